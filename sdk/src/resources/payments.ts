import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

/** Payments into the wallet. */
export class Deposits extends Resource {
  list(query?: Query<'listDeposits'>, options?: CallOptions) {
    return this.api.pages('listDeposits', { query }, options)
  }

  /** The response contains the payment instructions. */
  create(body: Body<'createDeposit'>, options?: CallOptions) {
    return this.api.call('createDeposit', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getDeposit', { path: { id } }, options)
  }
}

export class Invoices extends Resource {
  list(query?: Query<'listInvoices'>, options?: CallOptions) {
    return this.api.pages('listInvoices', { query }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getInvoice', { path: { id } }, options)
  }
}
