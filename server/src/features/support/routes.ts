import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { CreateReply, CreateTicket, Reply, Ticket, TicketFilter, TicketWithReplies } from './schema.ts'
import { createTicket, getTicket, listTickets, replyAsCustomer } from './service.ts'

const tag = 'Tickets'
const params = { id: Type.String() }
const [read, create] = ['tickets:read', 'tickets:create']

export const ticketRoutes: Routes = (api, { db, clock }) => {
  api.page(
    '/tickets',
    { operationId: 'listTickets', summary: 'List tickets, newest first', tag, scope: read, query: TicketFilter, data: Ticket },
    ({ principal, query }, page) => listTickets(db, principal.accountId, query.status ?? null, page),
  )

  api.post(
    '/tickets',
    {
      operationId: 'createTicket',
      summary: 'Ask support something',
      tag,
      scope: create,
      body: CreateTicket,
      status: 201,
      data: TicketWithReplies,
      errorCodes: ['quota_exceeded'],
    },
    (tx, { principal, body }) => createTicket(tx, clock.now(), principal.accountId, body),
  )

  api.get(
    '/tickets/:id',
    { operationId: 'getTicket', summary: 'Get a ticket with its replies', tag, scope: read, params, data: TicketWithReplies },
    ({ principal, params: { id } }) => getTicket(db, principal.accountId, id),
  )

  api.post(
    '/tickets/:id/replies',
    {
      operationId: 'replyToTicket',
      summary: 'Add to a ticket; a closed one is open again',
      tag,
      scope: create,
      params,
      body: CreateReply,
      status: 201,
      data: Reply,
      errorCodes: ['quota_exceeded'],
    },
    (tx, { principal, params: { id }, body }) => replyAsCustomer(tx, clock.now(), principal.accountId, id, body),
  )
}
