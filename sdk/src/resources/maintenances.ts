import type { Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Maintenances extends Resource {
  list(query?: Query<'listMaintenances'>, options?: CallOptions) {
    return this.api.pages('listMaintenances', { query }, options)
  }
}
