// Tickets for customers. Every change locks the ticket's row: status, reply count and the quota of open tickets change together.
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { quotaLimit, reserveQuota } from '../accounts/service.ts'
import type { CreateReply, CreateTicket, Reply, Ticket, TicketStatus, TicketWithReplies } from './schema.ts'
import * as sql from './sql.ts'
import { toReply, toTicket, toTicketWithReplies } from './view.ts'

export const OPEN_TICKETS = 'open_tickets'

export async function listTickets(db: Queries, accountId: string, status: TicketStatus | null, page: PageRequest): Promise<Paged<Ticket>> {
  return pageOf(
    page,
    () => sql.countTickets(db, accountId, status),
    async (range) => (await sql.listTickets(db, accountId, status, range)).map(toTicket),
  )
}

export async function getTicket(db: Queries, accountId: string | null, id: string): Promise<TicketWithReplies> {
  const ticket = await sql.findTicket(db, accountId, id)
  if (!ticket) throw notFound('Ticket')
  return toTicketWithReplies(ticket, await sql.repliesTo(db, id))
}

export async function createTicket(tx: Tx, now: Date, accountId: string, input: CreateTicket): Promise<TicketWithReplies> {
  await reserveQuota(tx, accountId, OPEN_TICKETS, 1n)
  const texts = { subject: input.subject, body: plain(input.body) }
  return toTicketWithReplies(await sql.insertTicket(tx, { id: newId(), account_id: accountId, ...texts, created_at: now }), [])
}

/** Reopens a closed ticket. */
export async function replyAsCustomer(tx: Tx, now: Date, accountId: string, id: string, input: CreateReply): Promise<Reply> {
  const ticket = await lockTicket(tx, accountId, id)
  const most = await quotaLimit(tx, accountId, 'replies_per_ticket')
  if (BigInt(await sql.countReplies(tx, id, 'customer')) >= most)
    throw apiError('quota_exceeded', `Quota exceeded: a ticket holds ${most} replies of yours. Open a new ticket`)
  if (ticket.status === 'CLOSED') await reserveQuota(tx, accountId, OPEN_TICKETS, 1n)
  const reply = await addReply(tx, now, ticket, 'customer', input.body)
  await sql.updateTicket(tx, { ...ticket, status: 'OPEN', reply_count: ticket.reply_count + 1, updated_at: now, closed_at: null })
  return toReply(reply)
}

export async function lockTicket(tx: Tx, accountId: string | null, id: string): Promise<sql.TicketRow> {
  const ticket = await sql.lockTicket(tx, accountId, id)
  if (!ticket) throw notFound('Ticket')
  return ticket
}

export const addReply = (tx: Tx, now: Date, ticket: sql.TicketRow, author: sql.ReplyRow['author'], body: string) =>
  sql.insertReply(tx, { id: newId(), ticket_id: ticket.id, author, body: plain(body), created_at: now })

/** Normalises line endings and removes control characters, which could control a terminal. */
const plain = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, '')
