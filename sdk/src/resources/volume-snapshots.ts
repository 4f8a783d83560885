import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

/** Of volumes. An action of a volume that a VM has is one of that VM; of a detached one see its `currentAction`. */
export class VolumeSnapshots extends Resource {
  list(volumeId: string, query?: Query<'listVolumeSnapshots'>, options?: CallOptions) {
    return this.api.pages('listVolumeSnapshots', { path: { volumeId }, query }, options)
  }

  create(volumeId: string, body: Body<'createVolumeSnapshot'>, options?: CallOptions) {
    return this.api.call('createVolumeSnapshot', { path: { volumeId }, body }, options)
  }

  quoteCreate(volumeId: string, body: Body<'createVolumeSnapshot'>, options?: CallOptions) {
    return this.api.quote('createVolumeSnapshot', { path: { volumeId }, body }, options)
  }

  get(volumeId: string, id: string, options?: CallOptions) {
    return this.api.call('getVolumeSnapshot', { path: { volumeId, id } }, options)
  }

  update(volumeId: string, id: string, body: Body<'updateVolumeSnapshot'>, options?: CallOptions) {
    return this.api.call('updateVolumeSnapshot', { path: { volumeId, id }, body }, options)
  }

  /** Of a detached volume. Data written since the snapshot is lost. */
  restore(volumeId: string, id: string, options?: CallOptions) {
    return this.api.call('restoreVolumeSnapshot', { path: { volumeId, id } }, options)
  }

  delete(volumeId: string, id: string, options?: CallOptions) {
    return this.api.call('deleteVolumeSnapshot', { path: { volumeId, id } }, options)
  }
}
