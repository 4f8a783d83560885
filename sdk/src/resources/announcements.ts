import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Announcements extends Resource {
  list(options?: CallOptions) {
    return this.api.call('listAnnouncements', {}, options)
  }
}
