import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

/** Disks that move between VMs. A result with an `actionId` is still in progress: pass it to `waitForAction`. */
export class Volumes extends Resource {
  list(query?: Query<'listVolumes'>, options?: CallOptions) {
    return this.api.pages('listVolumes', { query }, options)
  }

  /** With `vmId` it is being attached when this returns: see `currentAction`. */
  create(body: Body<'createVolume'>, options?: CallOptions) {
    return this.api.call('createVolume', { body }, options)
  }

  /** Price of the volume; throws if the request would be rejected. */
  quoteCreate(body: Body<'createVolume'>, options?: CallOptions) {
    return this.api.quote('createVolume', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getVolume', { path: { id } }, options)
  }

  /** Its name, labels, protection and size. A volume that a VM has is being grown when this returns: see `currentAction`. */
  update(id: string, body: Body<'updateVolume'>, options?: CallOptions) {
    return this.api.call('updateVolume', { path: { id }, body }, options)
  }

  /** Price of growing it. */
  quoteUpdate(id: string, body: Body<'updateVolume'>, options?: CallOptions) {
    return this.api.quote('updateVolume', { path: { id }, body }, options)
  }

  delete(id: string, options?: CallOptions) {
    return this.api.call('deleteVolume', { path: { id } }, options)
  }

  /** The refund, as a negative charge. */
  quoteDelete(id: string, options?: CallOptions) {
    return this.api.quote('deleteVolume', { path: { id } }, options)
  }

  attach(id: string, body: Body<'attachVolume'>, options?: CallOptions) {
    return this.api.call('attachVolume', { path: { id }, body }, options)
  }

  detach(id: string, options?: CallOptions) {
    return this.api.call('detachVolume', { path: { id } }, options)
  }
}
