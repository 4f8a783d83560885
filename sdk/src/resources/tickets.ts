import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Tickets extends Resource {
  list(query?: Query<'listTickets'>, options?: CallOptions) {
    return this.api.pages('listTickets', { query }, options)
  }

  create(body: Body<'createTicket'>, options?: CallOptions) {
    return this.api.call('createTicket', { body }, options)
  }

  /** Includes the replies. */
  get(id: string, options?: CallOptions) {
    return this.api.call('getTicket', { path: { id } }, options)
  }

  reply(id: string, body: string, options?: CallOptions) {
    return this.api.call('replyToTicket', { path: { id }, body: { body } }, options)
  }
}
