import type { Query, Ticket } from '@berth/sdk'
import { record, rows, said } from '../answer.ts'
import { group, verb } from '../command.ts'
import { time } from '../format.ts'
import { given, textOrFile } from '../options.ts'
import { harmlessLines } from '../style.ts'

const list = verb<{ status?: Query<'listTickets'>['status'] }>({
  name: 'list',
  about: 'list your tickets',
  options: [['--status <status>', 'OPEN, ANSWERED or CLOSED']],
  example: 'ticket list --status ANSWERED',
  run: async ({ berth }, { status }) =>
    rows(
      await berth.tickets.list(given({ status })).all(),
      {
        ID: (each: Ticket) => each.id,
        SUBJECT: (each) => each.subject,
        STATUS: (each) => each.status,
        REPLIES: (each) => each.replyCount,
        UPDATED: (each) => time(each.updatedAt),
      },
      'There is no ticket: berth ticket create --help',
    ),
})

const get = verb({
  name: 'get',
  about: 'show a ticket with its replies',
  args: '<ticket>',
  example: 'ticket get "No address"',
  async run(call, _, ticket: string) {
    const found = await call.berth.tickets.get(await call.id('ticket', ticket))
    const head = record(found, { Subject: (each) => each.subject, Id: (each) => each.id, Status: (each) => each.status })
    const said = [{ author: 'customer', createdAt: found.createdAt, body: found.body }, ...found.replies]
    const lines = said.map(({ author, createdAt, body }) => harmlessLines(`\n${author}, ${time(createdAt)}:\n${body}`))
    return { ...head, names: [found.id], text: (paint) => [head.text(paint), ...lines].join('\n') }
  },
})

const create = verb({
  name: 'create',
  about: 'ask support; the question as text, @file, or - for stdin',
  args: '<subject> <body>',
  example: 'ticket create "No address" "web-1 has none since this morning"',
  async run({ berth }, _, subject: string, body: string) {
    const made = await berth.tickets.create({ subject, body: textOrFile(body) })
    return said(made, made.id, `Ticket ${made.id} is open. To read answers: berth ticket get ${made.id}`)
  },
})

const reply = verb({
  name: 'reply',
  about: 'write into a ticket; as text, @file, or - for stdin',
  args: '<ticket> <body>',
  example: 'ticket reply "No address" "It has one now"',
  async run(call, _, ticket: string, body: string) {
    const made = await call.berth.tickets.reply(await call.id('ticket', ticket), textOrFile(body))
    return said(made, made.id, `Support reads it`)
  },
})

export const ticket = group('ticket', 'questions to support', [list, get, create, reply])
