import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class PlacementGroups extends Resource {
  list(query?: Query<'listPlacementGroups'>, options?: CallOptions) {
    return this.api.pages('listPlacementGroups', { query }, options)
  }

  create(body: Body<'createPlacementGroup'>, options?: CallOptions) {
    return this.api.call('createPlacementGroup', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getPlacementGroup', { path: { id } }, options)
  }

  update(id: string, body: Body<'renamePlacementGroup'>, options?: CallOptions) {
    return this.api.call('renamePlacementGroup', { path: { id }, body }, options)
  }

  rename(id: string, name: string, options?: CallOptions) {
    return this.api.call('renamePlacementGroup', { path: { id }, body: { name } }, options)
  }

  delete(id: string, options?: CallOptions) {
    return this.api.call('deletePlacementGroup', { path: { id } }, options)
  }
}
