import type { Routes } from '../deps.ts'
import { Transaction, TransactionFilter, Wallet } from './schema.ts'
import { getWallet, listTransactions, type Renewals } from './service.ts'

const tag = 'Wallet'
const scope = 'wallet:read'

/** `renewals` is injected by the billing feature. */
export const walletRoutes =
  (renewals: Renewals): Routes =>
  (api, { db, clock, config }) => {
    api.get(
      '/wallet',
      { operationId: 'getWallet', summary: 'Get the balance and how long it lasts', tag, scope, isOfPayer: true, data: Wallet },
      ({ principal }) => getWallet(db, clock.now(), principal.accountId, config.currency, renewals),
    )

    api.page(
      '/wallet/transactions',
      {
        operationId: 'listWalletTransactions',
        summary: 'List wallet transactions, newest first; in a project those for it',
        tag,
        scope,
        query: TransactionFilter,
        data: Transaction,
      },
      ({ principal, query }, page) => listTransactions(db, principal, query, page),
    )
  }
