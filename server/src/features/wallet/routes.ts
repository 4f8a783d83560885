import type { Routes } from '../deps.ts'
import { Type } from '../../http/api/schema.ts'
import { CostQuery, Costs, Transaction, TransactionDetail, TransactionFilter, Wallet } from './schema.ts'
import { getCosts, getTransaction, getWallet, listTransactions, type Renewals } from './service.ts'

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

    api.get(
      '/wallet/transactions/:id',
      {
        operationId: 'getWalletTransaction',
        errorCodes: ['not_found'],
        summary: 'Get a wallet transaction with what caused it',
        tag,
        scope,
        params: { id: Type.String() },
        data: TransactionDetail,
      },
      ({ principal, params: { id } }) => getTransaction(db, principal, id),
    )

    api.get(
      '/wallet/costs',
      {
        operationId: 'getWalletCosts',
        summary: 'Get what a month has cost, by resource, type, project or label; in a project what was paid for it',
        tag,
        scope,
        query: CostQuery,
        data: Costs,
      },
      ({ principal, query }) => getCosts({ db, now: clock.now(), currency: config.currency }, principal, query),
    )
  }
