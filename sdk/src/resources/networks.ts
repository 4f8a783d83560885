import type { Body, Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

/** Private networks. `vms.attachNetwork` attaches a VM. */
export class Networks extends Resource {
  list(query?: Query<'listNetworks'>, options?: CallOptions) {
    return this.api.pages('listNetworks', { query }, options)
  }

  create(body: Body<'createNetwork'>, options?: CallOptions) {
    return this.api.call('createNetwork', { body }, options)
  }

  get(id: string, options?: CallOptions) {
    return this.api.call('getNetwork', { path: { id } }, options)
  }

  update(id: string, body: Body<'renameNetwork'>, options?: CallOptions) {
    return this.api.call('renameNetwork', { path: { id }, body }, options)
  }

  rename(id: string, name: string, options?: CallOptions) {
    return this.api.call('renameNetwork', { path: { id }, body: { name } }, options)
  }

  delete(id: string, options?: CallOptions) {
    return this.api.call('deleteNetwork', { path: { id } }, options)
  }

  /** Its VMs, by their address in it. */
  attachments(id: string, options?: CallOptions) {
    return this.api.call('listNetworkAttachments', { path: { id } }, options)
  }

  /** By destination. */
  routes(id: string, options?: CallOptions) {
    return this.api.call('listNetworkRoutes', { path: { id } }, options)
  }

  addRoute(id: string, body: Body<'createNetworkRoute'>, options?: CallOptions) {
    return this.api.call('createNetworkRoute', { path: { id }, body }, options)
  }

  route(id: string, routeId: string, options?: CallOptions) {
    return this.api.call('getNetworkRoute', { path: { id, routeId } }, options)
  }

  deleteRoute(id: string, routeId: string, options?: CallOptions) {
    return this.api.call('deleteNetworkRoute', { path: { id, routeId } }, options)
  }

  peerings(id: string, options?: CallOptions) {
    return this.api.call('listNetworkPeerings', { path: { id } }, options)
  }

  addPeering(id: string, networkId: string, options?: CallOptions) {
    return this.api.call('createNetworkPeering', { path: { id }, body: { networkId } }, options)
  }

  peering(id: string, peeringId: string, options?: CallOptions) {
    return this.api.call('getNetworkPeering', { path: { id, peeringId } }, options)
  }

  deletePeering(id: string, peeringId: string, options?: CallOptions) {
    return this.api.call('deleteNetworkPeering', { path: { id, peeringId } }, options)
  }
}
