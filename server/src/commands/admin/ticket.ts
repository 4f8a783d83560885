import type { Command } from 'commander'
import { getAccount } from '../../features/accounts/service.ts'
import type { Ticket, TicketStatus, TicketWithReplies } from '../../features/support/schema.ts'
import { adminCommand, loadEventDeps, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { oneLine, table, type Result } from '../output.ts'

export function ticketCommands(program: Command): void {
  const ticket = program.command('ticket').description('support tickets')
  adminCommand(
    ticket
      .command('list')
      .description('list tickets that are not closed, longest waiting first')
      .option('--status <status>', 'OPEN (waiting for staff), ANSWERED (waiting for the customer) or CLOSED')
      .option('--account <id or email>'),
    'ticket list --status OPEN',
    list,
  )
  adminCommand(ticket.command('show').description('show a ticket with its replies').argument('<id>'), 'ticket show cabc123', show)
  adminCommand(
    ticket
      .command('reply')
      .description('reply to a ticket; the customer is notified')
      .argument('<id>')
      .requiredOption('--body <text>', 'the reply, as plain text')
      .option('--close', 'also close the ticket'),
    'ticket reply cabc123 --body "Your address is released now." --close',
    reply,
  )
  adminCommand(
    ticket.command('close').description('close a ticket; a customer reply reopens it').argument('<id>'),
    'ticket close cabc123',
    close,
  )
}

const STATUSES: readonly TicketStatus[] = ['OPEN', 'ANSWERED', 'CLOSED']

async function list({ db }: Admin, input: { status?: string; account?: string }): Promise<Result> {
  const status = STATUSES.find((each) => each === input.status?.toUpperCase()) ?? null
  if (input.status !== undefined && !status) throw new UsageError(`--status must be one of ${STATUSES.join(', ')}`)
  const accountId = input.account === undefined ? null : (await getAccount(db, input.account)).id
  const rows = await (await support()).listForStaff(db, { accountId, status })
  const shown = table(rows, ['id', 'account', 'status', 'replyCount', 'updatedAt', 'subject'], 'No matching tickets')
  return { data: rows, text: shown.text }
}

async function show({ db }: Admin, _: object, id?: string): Promise<Result> {
  const ticket = await (await support()).showToStaff(db, id!)
  return { data: ticket, text: asText(ticket) }
}

async function reply(admin: Admin, input: { body: string; close?: true }, id?: string): Promise<Result> {
  const deps = await loadEventDeps(admin)
  const { replyAsStaff } = await support()
  const data = await admin.db.tx((tx) => replyAsStaff(tx, deps, id!, input.body, input.close))
  return { data, text: summaryOf(data.ticket) }
}

async function close(admin: Admin, _: object, id?: string): Promise<Result> {
  const deps = await loadEventDeps(admin)
  const { closeTicket } = await support()
  const ticket = await admin.db.tx((tx) => closeTicket(tx, deps, id!))
  return { data: ticket, text: summaryOf(ticket) }
}

const summaryOf = ({ id, status, replyCount }: Ticket): string =>
  `Ticket ${id} is ${status} and has ${replyCount} ${replyCount === 1 ? 'reply' : 'replies'}`

function asText({ id, subject, status, createdAt, body, replies }: TicketWithReplies): string {
  const messages = [{ author: 'customer', createdAt, body }, ...replies]
  return [`${id} · ${status} · ${oneLine(subject)}`, ...messages.map((each) => `\n${each.author}, ${each.createdAt}:\n${each.body}`)].join(
    '\n',
  )
}

/** Imported on demand: it loads the API schemas, which other commands do not need. */
const support = () => import('../../features/support/staff.ts')
