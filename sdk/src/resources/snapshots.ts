import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Snapshots extends Resource {
  list(vmId: string, query?: Query<'listSnapshots'>, options?: CallOptions) {
    return this.api.pages('listSnapshots', { path: { vmId }, query }, options)
  }

  create(vmId: string, body: Body<'createSnapshot'>, options?: CallOptions) {
    return this.api.start(vmId, 'createSnapshot', { path: { vmId }, body }, options)
  }

  quoteCreate(vmId: string, body: Body<'createSnapshot'>, options?: CallOptions) {
    return this.api.quote('createSnapshot', { path: { vmId }, body }, options)
  }

  get(vmId: string, id: string, options?: CallOptions) {
    return this.api.call('getSnapshot', { path: { vmId, id } }, options)
  }

  update(vmId: string, id: string, body: Body<'updateSnapshot'>, options?: CallOptions) {
    return this.api.call('updateSnapshot', { path: { vmId, id }, body }, options)
  }

  /** Replaces the VM's disk. Data written since the snapshot is lost. */
  restore(vmId: string, id: string, options?: CallOptions) {
    return this.api.start(vmId, 'restoreSnapshot', { path: { vmId, id } }, options)
  }

  delete(vmId: string, id: string, options?: CallOptions) {
    return this.api.start(vmId, 'deleteSnapshot', { path: { vmId, id } }, options)
  }
}
