import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Projects extends Resource {
  list(query?: Query<'listProjects'>, options?: CallOptions) {
    return this.api.pages('listProjects', { query }, options)
  }

  create(body: Body<'createProject'>, options?: CallOptions) {
    return this.api.call('createProject', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getProject', { path: { id } }, options)
  }

  update(id: string, body: Body<'updateProject'>, options?: CallOptions) {
    return this.api.call('updateProject', { path: { id }, body }, options)
  }

  delete(id: string, options?: CallOptions) {
    return this.api.call('deleteProject', { path: { id } }, options)
  }
}
