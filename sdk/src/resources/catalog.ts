import type { Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Regions extends Resource {
  list(options?: CallOptions) {
    return this.api.call('listRegions', {}, options)
  }

  /** The nodes of a region that can host private networks. */
  nodes(id: string, options?: CallOptions) {
    return this.api.call('listNodes', { path: { id } }, options)
  }
}

export class Plans extends Resource {
  list(options?: CallOptions) {
    return this.api.call('listPlans', {}, options)
  }

  /** Which plan can be had in which region now, for which architecture, and why not. */
  availability(query?: Query<'listAvailability'>, options?: CallOptions) {
    return this.api.call('listAvailability', { query }, options)
  }
}

export class OsTemplates extends Resource {
  list(options?: CallOptions) {
    return this.api.call('listOsTemplates', {}, options)
  }

  get(slug: string, options?: CallOptions) {
    return this.api.call('getOsTemplate', { path: { slug } }, options)
  }
}
