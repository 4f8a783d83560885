import type { Reply, Ticket, TicketWithReplies } from './schema.ts'
import type { ReplyRow, TicketRow } from './sql.ts'

export const toTicket = (row: TicketRow): Ticket => ({
  id: row.id,
  subject: row.subject,
  status: row.status,
  replyCount: row.reply_count,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  closedAt: row.closed_at?.toISOString() ?? null,
})

export const toReply = ({ id, author, body, created_at }: ReplyRow): Reply => ({ id, author, body, createdAt: created_at.toISOString() })

export const toTicketWithReplies = (row: TicketRow, replies: ReplyRow[]): TicketWithReplies => ({
  ...toTicket(row),
  body: row.body,
  replies: replies.map(toReply),
})
