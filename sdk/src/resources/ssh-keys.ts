import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class SshKeys extends Resource {
  list(query?: Query<'listSshKeys'>, options?: CallOptions) {
    return this.api.pages('listSshKeys', { query }, options)
  }

  create(body: Body<'createSshKey'>, options?: CallOptions) {
    return this.api.call('createSshKey', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getSshKey', { path: { id } }, options)
  }

  update(id: string, body: Body<'renameSshKey'>, options?: CallOptions) {
    return this.api.call('renameSshKey', { path: { id }, body }, options)
  }

  rename(id: string, name: string, options?: CallOptions) {
    return this.api.call('renameSshKey', { path: { id }, body: { name } }, options)
  }

  delete(id: string, options?: CallOptions) {
    return this.api.call('deleteSshKey', { path: { id } }, options)
  }
}
