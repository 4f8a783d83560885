import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

/** Own images. One that is AVAILABLE is given as `osTemplateId`. */
export class Images extends Resource {
  list(query?: Query<'listImages'>, options?: CallOptions) {
    return this.api.pages('listImages', { query }, options)
  }

  /** From a VM, a snapshot or a backup, or from a file at a URL. It reads CREATING until it is made. */
  create(body: Body<'createImage'>, options?: CallOptions) {
    return this.api.call('createImage', { body }, options)
  }

  /** What the image costs at most; throws if the request would be rejected. */
  quoteCreate(body: Body<'createImage'>, options?: CallOptions) {
    return this.api.quote('createImage', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getImage', { path: { id } }, options)
  }

  update(id: string, body: Body<'updateImage'>, options?: CallOptions) {
    return this.api.call('updateImage', { path: { id }, body }, options)
  }

  delete(id: string, options?: CallOptions) {
    return this.api.call('deleteImage', { path: { id } }, options)
  }

  /** The refund, as a negative charge. */
  quoteDelete(id: string, options?: CallOptions) {
    return this.api.quote('deleteImage', { path: { id } }, options)
  }
}
