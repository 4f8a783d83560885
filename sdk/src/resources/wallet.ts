import type { Query } from '../api.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

export class Wallet extends Resource {
  get(options?: CallOptions) {
    return this.api.call('getWallet', {}, options)
  }

  /** Newest first. */
  transactions(query?: Query<'listWalletTransactions'>, options?: CallOptions) {
    return this.api.pages('listWalletTransactions', { query }, options)
  }

  /** With what caused it. */
  transaction(id: string, options?: CallOptions) {
    return this.api.call('getWalletTransaction', { path: { id } }, options)
  }

  /** What a month has cost. */
  costs(query?: Query<'getWalletCosts'>, options?: CallOptions) {
    return this.api.call('getWalletCosts', { query }, options)
  }

  /** The balance of each day, past and to come. */
  timeline(query?: Query<'getWalletTimeline'>, options?: CallOptions) {
    return this.api.call('getWalletTimeline', { query }, options)
  }
}
