// Tickets for staff. A reply and the customer's event commit in one transaction.
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { invalid } from '../../kernel/errors.ts'
import { releaseQuota } from '../accounts/service.ts'
import { recordByOperator } from '../audit-log/service.ts'
import type { EventDeps } from '../deps.ts'
import { recordEvent } from '../events/service.ts'
import type { Reply, Ticket, TicketStatus, TicketWithReplies } from './schema.ts'
import { addReply, getTicket, lockTicket, OPEN_TICKETS } from './service.ts'
import * as sql from './sql.ts'
import { toReply, toTicket } from './view.ts'

const MAX_LISTED = 500
const LONGEST = 10_000

export type StaffTicket = Ticket & { account: string; accountId: string }

/** Without a status filter: all tickets except CLOSED ones. */
export async function listForStaff(db: Queries, filter: { accountId: string | null; status: TicketStatus | null }): Promise<StaffTicket[]> {
  return (await sql.listForStaff(db, filter, MAX_LISTED)).map((row) => ({
    ...toTicket(row),
    account: row.email,
    accountId: row.account_id,
  }))
}

export async function showToStaff(db: Queries, id: string): Promise<TicketWithReplies & { account: string; accountId: string }> {
  const ticket = await getTicket(db, null, id)
  const { account_id: accountId, email } = await sql.findForStaff(db, id)
  return { ...ticket, account: email, accountId }
}

/** A closed ticket stays closed. Lock order: quota before event log. */
export async function replyAsStaff(
  tx: Tx,
  deps: EventDeps,
  id: string,
  body: string,
  close = false,
): Promise<{ ticket: Ticket; reply: Reply }> {
  if (body.trim() === '' || body.length > LONGEST) throw invalid(`a reply must be 1-${LONGEST} characters`, 'body')
  const now = deps.clock.now()
  const before = await lockTicket(tx, null, id)
  const closes = close && before.status !== 'CLOSED'
  if (closes) await releaseQuota(tx, before.account_id, OPEN_TICKETS, 1n)
  const reply = toReply(await addReply(tx, now, before, 'staff', body))
  const status = before.status === 'CLOSED' ? 'CLOSED' : 'ANSWERED'
  const row = await sql.updateTicket(tx, { ...before, status, reply_count: before.reply_count + 1, updated_at: now })
  const ticket = toTicket(row)
  recordForAudit(tx, deps, row, 'ticket reply')
  await recordEvent(tx, deps, { accountId: row.account_id, type: 'ticket.reply', subjectId: id, data: { ticket, reply } })
  return { ticket: closes ? await markClosed(tx, deps, row) : ticket, reply }
}

/** No-op for a closed ticket. */
export async function closeTicket(tx: Tx, deps: EventDeps, id: string): Promise<Ticket> {
  const before = await lockTicket(tx, null, id)
  if (before.status === 'CLOSED') return toTicket(before)
  await releaseQuota(tx, before.account_id, OPEN_TICKETS, 1n)
  return markClosed(tx, deps, before)
}

/** With the account, which nobody will look into any more. */
export async function closeTicketsOf(tx: Tx, deps: EventDeps, accountId: string): Promise<void> {
  const open = await sql.lockOpenTickets(tx, accountId)
  if (open.length > 0) await releaseQuota(tx, accountId, OPEN_TICKETS, BigInt(open.length))
  for (const ticket of open) await recordClosed(tx, deps, ticket)
}

async function markClosed(tx: Tx, deps: EventDeps, before: sql.TicketRow): Promise<Ticket> {
  recordForAudit(tx, deps, before, 'ticket close')
  return recordClosed(tx, deps, before)
}

async function recordClosed(tx: Tx, deps: EventDeps, before: sql.TicketRow): Promise<Ticket> {
  const now = deps.clock.now()
  const ticket = toTicket(await sql.updateTicket(tx, { ...before, status: 'CLOSED', updated_at: now, closed_at: now }))
  await recordEvent(tx, deps, { accountId: before.account_id, type: 'ticket.closed', subjectId: before.id, data: { ticket } })
  return ticket
}

const recordForAudit = (tx: Tx, { clock }: EventDeps, { id, account_id }: sql.TicketRow, action: string): void =>
  recordByOperator(tx, clock.now(), { accountId: account_id, action, resourceIds: [id] })
