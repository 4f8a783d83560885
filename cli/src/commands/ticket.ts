import type { Query, Ticket } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { omitUndefined, readTextOrFile } from '../options.ts'
import { details, message, table } from '../result.ts'
import { sanitizeLines } from '../style.ts'

const list = defineCommand<{ status?: Query<'listTickets'>['status'] }>({
  name: 'list',
  description: 'list tickets',
  options: [['--status <status>', 'filter by status: OPEN, ANSWERED or CLOSED']],
  example: 'ticket list --status ANSWERED',
  lists: true,
  run: async (ctx, { status }) =>
    table(
      await ctx.list(ctx.berth.tickets.list(omitUndefined({ status }))),
      {
        ID: (each: Ticket) => each.id,
        SUBJECT: (each) => each.subject,
        STATUS: (each) => each.status,
        REPLIES: (each) => each.replyCount,
        UPDATED: (each) => time(each.updatedAt),
      },
      'No tickets yet. Open one: berth ticket create --help',
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show a ticket with its replies',
  args: '<ticket>',
  example: 'ticket get "No address"',
  async run(ctx, _, ticket: string) {
    const found = await ctx.berth.tickets.get(await ctx.resolveId('ticket', ticket))
    const head = details(found, { Subject: (each) => each.subject, Id: (each) => each.id, Status: (each) => each.status })
    const posts = [{ author: 'customer', createdAt: found.createdAt, body: found.body }, ...found.replies]
    const lines = posts.map(({ author, createdAt, body }) => sanitizeLines(`\n${author}, ${time(createdAt)}:\n${body}`))
    return { ...head, names: [found.id], text: (paint) => [head.text(paint), ...lines].join('\n') }
  },
})

const create = defineCommand({
  name: 'create',
  description: 'open a ticket; the message is text, @file, or - for stdin',
  args: '<subject> <body>',
  example: 'ticket create "No address" "web-1 has none since this morning"',
  async run({ berth }, _, subject: string, body: string) {
    const ticket = await berth.tickets.create({ subject, body: readTextOrFile(body) })
    return message(ticket, ticket.id, `Ticket ${ticket.id} opened. To read replies: berth ticket get ${ticket.id}`)
  },
})

const reply = defineCommand({
  name: 'reply',
  description: 'reply to a ticket; the message is text, @file, or - for stdin',
  args: '<ticket> <body>',
  example: 'ticket reply "No address" "It has one now"',
  async run(ctx, _, ticket: string, body: string) {
    const sent = await ctx.berth.tickets.reply(await ctx.resolveId('ticket', ticket), readTextOrFile(body))
    return message(sent, sent.id, 'Reply sent')
  },
})

export const ticket = group('ticket', 'support tickets', [list, get, create, reply])
