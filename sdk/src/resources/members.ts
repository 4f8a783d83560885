import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Members extends Resource {
  list(query?: Query<'listMembers'>, options?: CallOptions) {
    return this.api.pages('listMembers', { query }, options)
  }

  update(id: string, body: Body<'updateMember'>, options?: CallOptions) {
    return this.api.call('updateMember', { path: { id }, body }, options)
  }

  delete(id: string, options?: CallOptions) {
    return this.api.call('deleteMember', { path: { id } }, options)
  }
}

export class Invitations extends Resource {
  list(query?: Query<'listInvitations'>, options?: CallOptions) {
    return this.api.pages('listInvitations', { query }, options)
  }

  create(body: Body<'createInvitation'>, options?: CallOptions) {
    return this.api.call('createInvitation', { body }, options)
  }

  delete(id: string, options?: CallOptions) {
    return this.api.call('deleteInvitation', { path: { id } }, options)
  }
}
