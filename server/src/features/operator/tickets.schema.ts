// Schemas of tickets, as staff sees them.
import { object, oneOf, text, Type, type Static } from '../../http/api/schema.ts'
import { Reply, Ticket, TicketWithReplies } from '../support/schema.ts'

export const StaffTicket = object({ ...Ticket.properties, email: Type.String(), accountId: Type.String() }, { title: 'StaffTicket' })
export const StaffTicketWithReplies = object(
  { ...TicketWithReplies.properties, email: Type.String(), accountId: Type.String() },
  { title: 'StaffTicketWithReplies' },
)
export const StaffTicketQuery = {
  status: Type.Optional(oneOf(['OPEN', 'ANSWERED', 'CLOSED'])),
  account: Type.Optional(Type.String({ maxLength: 64, description: 'Id' })),
}
export const StaffReply = object({ body: text(1, 10_000), close: Type.Optional(Type.Boolean()) })
export type StaffReply = Static<typeof StaffReply>
export const StaffReplied = object({ ticket: Ticket, reply: Reply }, { title: 'StaffReplied' })
