import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Tokens extends Resource {
  list(query?: Query<'listTokens'>, options?: CallOptions) {
    return this.api.pages('listTokens', { query }, options)
  }

  /** `secret` is in this answer and nowhere else. */
  create(body: Body<'createToken'>, options?: CallOptions) {
    return this.api.call('createToken', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getToken', { path: { id } }, options)
  }

  update(id: string, body: Body<'updateToken'>, options?: CallOptions) {
    return this.api.call('updateToken', { path: { id }, body }, options)
  }

  /** With all that were made with it. */
  revoke(id: string, options?: CallOptions) {
    return this.api.call('revokeToken', { path: { id } }, options)
  }
}
