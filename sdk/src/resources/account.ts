import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Account extends Resource {
  get(options?: CallOptions) {
    return this.api.call('getAccount', {}, options)
  }

  update(body: Body<'updateAccount'>, options?: CallOptions) {
    return this.api.call('updateAccount', { body }, options)
  }

  limits(options?: CallOptions) {
    return this.api.call('listAccountLimits', {}, options)
  }

  /** Successful and rejected changes, newest first. */
  auditLog(query?: Query<'listAuditLog'>, options?: CallOptions) {
    return this.api.pages('listAuditLog', { query }, options)
  }
}
