import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

/** Floating addresses. A result with an `actionId` is still in progress: pass it to `waitForAction`. */
export class Addresses extends Resource {
  list(query?: Query<'listAddresses'>, options?: CallOptions) {
    return this.api.pages('listAddresses', { query }, options)
  }

  reserve(body: Body<'reserveAddress'>, options?: CallOptions) {
    return this.api.call('reserveAddress', { body }, options)
  }

  /** Price of the address; throws if the request would be rejected. */
  quoteReserve(body: Body<'reserveAddress'>, options?: CallOptions) {
    return this.api.quote('reserveAddress', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getAddress', { path: { id } }, options)
  }

  /** Its name, and its name in reverse DNS. */
  update(id: string, body: Body<'updateAddress'>, options?: CallOptions) {
    return this.api.call('updateAddress', { path: { id }, body }, options)
  }

  release(id: string, options?: CallOptions) {
    return this.api.call('releaseAddress', { path: { id } }, options)
  }

  /** The refund, as a negative charge. */
  quoteRelease(id: string, options?: CallOptions) {
    return this.api.quote('releaseAddress', { path: { id } }, options)
  }

  /** With `expectedVmId` nothing changes, and a conflict is thrown, if another VM has it. */
  assign(id: string, body: Body<'assignAddress'>, options?: CallOptions) {
    return this.api.call('assignAddress', { path: { id }, body }, options)
  }

  unassign(id: string, query?: Query<'unassignAddress'>, options?: CallOptions) {
    return this.api.call('unassignAddress', { path: { id }, query }, options)
  }
}
