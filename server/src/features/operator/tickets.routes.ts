import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { OPERATOR } from '../sessions/service.ts'
import { Ticket } from '../support/schema.ts'
import { closeTicket } from '../support/staff.ts'
import * as shapes from './tickets.schema.ts'
import { reply, showTicket, showTickets } from './tickets.ts'

const common = { tag: 'Operator', scope: OPERATOR }
const params = { id: Type.String() }

export const ticketRoutes: Routes = (api, deps) => {
  const { db } = deps
  api.get(
    '/operator/tickets',
    {
      operationId: 'operatorListTickets',
      summary: 'List tickets, whoever waits longest first; unless a status is asked for, those that are not closed',
      ...common,
      query: shapes.StaffTicketQuery,
      data: Type.Array(shapes.StaffTicket),
    },
    ({ query }) => showTickets(db, query),
  )

  api.get(
    '/operator/tickets/:id',
    { operationId: 'operatorGetTicket', summary: 'Get a ticket with its replies', ...common, params, data: shapes.StaffTicketWithReplies },
    ({ params: { id } }) => showTicket(db, id),
  )

  api.post(
    '/operator/tickets/:id/replies',
    {
      operationId: 'operatorReplyToTicket',
      summary: 'Answer a ticket; the customer is told',
      ...common,
      params,
      body: shapes.StaffReply,
      status: 201,
      data: shapes.StaffReplied,
    },
    (tx, { params: { id }, body }) => reply(tx, deps, id, body),
  )

  api.post(
    '/operator/tickets/:id/close',
    {
      operationId: 'operatorCloseTicket',
      summary: 'Close a ticket; a reply of the customer opens it again',
      ...common,
      params,
      data: Ticket,
    },
    (tx, { params: { id } }) => closeTicket(tx, deps, id),
  )
}
