import type { Command } from 'commander'
import { getAccount } from '../../features/accounts/service.ts'
import type { Ticket, TicketStatus, TicketWithReplies } from '../../features/support/schema.ts'
import { adminCommand, loadEventDeps, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { table, type Result } from '../output.ts'

export function ticketCommands(program: Command): void {
  const ticket = program.command('ticket').description('what customers ask of support')
  adminCommand(
    ticket
      .command('list')
      .description('list tickets that are not closed, whoever waits longest first')
      .option('--status <status>', 'OPEN (waits for you), ANSWERED (waits for the customer) or CLOSED')
      .option('--account <id or email>'),
    'ticket list --status OPEN',
    list,
  )
  adminCommand(ticket.command('show').description('show a ticket with its replies').argument('<id>'), 'ticket show cabc123', show)
  adminCommand(
    ticket
      .command('reply')
      .description('answer a ticket; the customer is told')
      .argument('<id>')
      .requiredOption('--body <text>', 'what the customer reads, as plain text')
      .option('--close', 'and close it'),
    'ticket reply cabc123 --body "Your address is released now." --close',
    reply,
  )
  adminCommand(
    ticket.command('close').description('close a ticket; a reply of the customer opens it again').argument('<id>'),
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
  const shown = table(
    rows.map((row) => ({ ...row, subject: printable(row.subject) })),
    ['id', 'account', 'status', 'replyCount', 'updatedAt', 'subject'],
    'There is no such ticket',
  )
  return { data: rows, text: shown.text }
}

async function show({ db }: Admin, _: object, id?: string): Promise<Result> {
  const ticket = await (await support()).showToStaff(db, id!)
  return { data: ticket, text: printable(asText(ticket)) }
}

async function reply(admin: Admin, input: { body: string; close?: true }, id?: string): Promise<Result> {
  const deps = await loadEventDeps(admin)
  const { replyAsStaff } = await support()
  const data = await admin.db.tx((tx) => replyAsStaff(tx, deps, id!, input.body, input.close))
  return { data, text: said(data.ticket) }
}

async function close(admin: Admin, _: object, id?: string): Promise<Result> {
  const deps = await loadEventDeps(admin)
  const { closeTicket } = await support()
  const ticket = await admin.db.tx((tx) => closeTicket(tx, deps, id!))
  return { data: ticket, text: said(ticket) }
}

const said = ({ id, status, replyCount }: Ticket): string =>
  `Ticket ${id} is ${status} and has ${replyCount} ${replyCount === 1 ? 'reply' : 'replies'}`

function asText({ id, subject, status, createdAt, body, replies }: TicketWithReplies): string {
  const messages = [{ author: 'customer', createdAt, body }, ...replies]
  return [`${id} · ${status} · ${subject}`, ...messages.map((each) => `\n${each.author}, ${each.createdAt}:\n${each.body}`)].join('\n')
}

/** What a customer typed must not steer the terminal it is read on, nor write from right to left what reads otherwise. */
const printable = (text: string): string => text.replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')

/** Brings the HTTP layer's schemas with it, which other commands need not wait for. */
const support = () => import('../../features/support/staff.ts')
