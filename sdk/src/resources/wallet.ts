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
}
