import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { contactOf } from '../accounts/service.ts'
import type { TicketStatus } from './schema.ts'

export type TicketRow = Row<'tickets'>

export type ReplyRow = Row<'ticket_replies'>

export const insertTicket = (tx: Tx, row: Pick<TicketRow, 'id' | 'account_id' | 'subject' | 'body' | 'created_at'>) =>
  tx.one<TicketRow>(sql`
    insert into tickets (id, account_id, subject, body, created_at, updated_at)
    values (${row.id}, ${row.account_id}, ${row.subject}, ${row.body}, ${row.created_at}, ${row.created_at}) returning ${allColumns('tickets')}`)

export const countTickets = async (db: Queries, accountId: string, status: TicketStatus | null): Promise<number> =>
  (
    await db.one<{ count: number }>(sql`
      select count(*)::int as count from tickets where account_id = ${accountId} and (${status}::text is null or status = ${status})`)
  ).count

export const listTickets = (db: Queries, accountId: string, status: TicketStatus | null, range: PageRange) =>
  db.many<TicketRow>(sql`
    select ${allColumns('tickets')} from tickets where account_id = ${accountId} and (${status}::text is null or status = ${status})
    ${newestFirst(sql`id`, range)}`)

/** `accountId` null: of any account, for staff. */
export const findTicket = (db: Queries, accountId: string | null, id: string) =>
  db.maybe<TicketRow>(
    sql`select ${allColumns('tickets')} from tickets where id = ${id} and (${accountId}::text is null or account_id = ${accountId})`,
  )

export const lockTicket = (tx: Tx, accountId: string | null, id: string) =>
  tx.maybe<TicketRow>(sql`
    select ${allColumns('tickets')} from tickets where id = ${id} and (${accountId}::text is null or account_id = ${accountId}) for no key update`)

export const lockOpenTickets = (tx: Tx, accountId: string) =>
  tx.many<TicketRow>(sql`
    select ${allColumns('tickets')} from tickets where account_id = ${accountId} and status <> 'CLOSED' order by id for no key update`)

export const repliesTo = (db: Queries, ticketId: string) =>
  db.many<ReplyRow>(sql`select ${allColumns('ticket_replies')} from ticket_replies where ticket_id = ${ticketId} order by created_at, id`)

export const countReplies = async (tx: Tx, ticketId: string, author: ReplyRow['author']): Promise<number> =>
  (
    await tx.one<{ count: number }>(sql`
      select count(*)::int as count from ticket_replies where ticket_id = ${ticketId} and author = ${author}`)
  ).count

export const insertReply = (tx: Tx, row: ReplyRow) =>
  tx.one<ReplyRow>(sql`
    insert into ticket_replies (id, ticket_id, author, body, created_at)
    values (${row.id}, ${row.ticket_id}, ${row.author}, ${row.body}, ${row.created_at}) returning ${allColumns('ticket_replies')}`)

export const updateTicket = (tx: Tx, row: Pick<TicketRow, 'id' | 'status' | 'reply_count' | 'updated_at' | 'closed_at'>) =>
  tx.one<TicketRow>(sql`
    update tickets set status = ${row.status}, reply_count = ${row.reply_count}, updated_at = ${row.updated_at}, closed_at = ${row.closed_at}
    where id = ${row.id} returning ${allColumns('tickets')}`)

export const findForStaff = (db: Queries, id: string) =>
  db.one<{ account_id: string; email: string }>(sql`
    select t.account_id, ${contactOf(sql`a`)} as email from tickets t join accounts a on a.id = t.account_id where t.id = ${id}`)

/** Longest waiting first. */
export const listForStaff = (db: Queries, filter: { accountId: string | null; status: TicketStatus | null }, limit: number) =>
  db.many<TicketRow & { email: string }>(sql`
    select ${allColumns('tickets', 't')}, ${contactOf(sql`a`)} as email from tickets t join accounts a on a.id = t.account_id
    where (${filter.accountId}::text is null or t.account_id = ${filter.accountId})
      and (t.status = ${filter.status} or (${filter.status}::text is null and t.status <> 'CLOSED'))
    order by t.status = 'ANSWERED', t.updated_at, t.id limit ${limit}`)
