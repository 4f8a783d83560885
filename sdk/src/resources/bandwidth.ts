import type { Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Bandwidth extends Resource {
  /** Traffic of every VM in its current billing period. */
  list(options?: CallOptions) {
    return this.api.call('listBandwidth', {}, options)
  }

  packs(vmId: string, query?: Query<'listBandwidthPacks'>, options?: CallOptions) {
    return this.api.pages('listBandwidthPacks', { path: { vmId }, query }, options)
  }

  buyPack(vmId: string, gigabytes: number, options?: CallOptions) {
    return this.api.call('buyBandwidthPack', { path: { vmId }, body: { gigabytes } }, options)
  }

  quotePack(vmId: string, gigabytes: number, options?: CallOptions) {
    return this.api.quote('buyBandwidthPack', { path: { vmId }, body: { gigabytes } }, options)
  }
}
