import { MISLEADING, nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'

/** At least one visible character, no control and no bidirectional characters: the text is shown on terminals and in emails. */
const Subject = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: `^(?=[\\s\\S]*\\S)[^\\u0000-\\u001f${MISLEADING}]*$`,
  rule: 'must be 1-200 characters on one line',
})
const Body = Type.String({
  minLength: 1,
  maxLength: 10_000,
  pattern: `^(?=[\\s\\S]*\\S)[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f${MISLEADING}]*$`,
  rule: 'must be 1-10000 characters of plain text',
  description: 'Plain text: nothing in it is ever read as markup',
})

export const CreateTicket = object({ subject: Subject, body: Body })
export type CreateTicket = Static<typeof CreateTicket>

export const CreateReply = object({ body: Body })
export type CreateReply = Static<typeof CreateReply>

export const TICKET_STATUSES = ['OPEN', 'ANSWERED', 'CLOSED'] as const
export type TicketStatus = (typeof TICKET_STATUSES)[number]

export const TicketFilter = { status: Type.Optional(oneOf([...TICKET_STATUSES])) }

const fields = {
  id: Type.String(),
  subject: Type.String(),
  status: Type.String({ enum: [...TICKET_STATUSES], description: 'OPEN waits for support, ANSWERED for you' }),
  replyCount: Type.Integer(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  closedAt: nullable(Timestamp),
}

export const Ticket = object(fields, { title: 'Ticket' })
export type Ticket = Omit<Static<typeof Ticket>, 'status'> & { status: TicketStatus }

export const Reply = object(
  { id: Type.String(), author: Type.String({ enum: ['customer', 'staff'] }), body: Type.String(), createdAt: Timestamp },
  { title: 'TicketReply' },
)
export type Reply = Static<typeof Reply>

export const TicketWithReplies = object(
  { ...fields, body: Type.String(), replies: Type.Array(Reply, { description: 'The oldest first' }) },
  { title: 'TicketWithReplies' },
)
export type TicketWithReplies = Ticket & { body: string; replies: Reply[] }

export const ticketEvents = {
  'ticket.reply': defineEvent(object({ ticket: Ticket, reply: Reply }, { title: 'TicketReplyEventData' }), 'Support has answered'),
  'ticket.closed': defineEvent(object({ ticket: Ticket }, { title: 'TicketClosedEventData' }), 'Support has closed the ticket'),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof ticketEvents> {}
}
