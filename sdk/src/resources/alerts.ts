import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Alerts extends Resource {
  list(query?: Query<'listAlerts'>, options?: CallOptions) {
    return this.api.pages('listAlerts', { query }, options)
  }

  create(body: Body<'createAlert'>, options?: CallOptions) {
    return this.api.call('createAlert', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getAlert', { path: { id } }, options)
  }

  update(id: string, body: Body<'updateAlert'>, options?: CallOptions) {
    return this.api.call('updateAlert', { path: { id }, body }, options)
  }

  delete(id: string, options?: CallOptions) {
    return this.api.call('deleteAlert', { path: { id } }, options)
  }
}
