import type { Routes } from '../deps.ts'
import { TimelineQuery, WalletTimeline } from './schema.ts'
import { getTimeline } from './timeline.ts'

export const billingRoutes: Routes = (api, { db, clock, config }) => {
  api.get(
    '/wallet/timeline',
    {
      operationId: 'getWalletTimeline',
      summary: 'Get the balance of each day: the past ones, and the next ones with the renewals to come',
      tag: 'Wallet',
      scope: 'wallet:read',
      isOfPayer: true,
      query: TimelineQuery,
      data: WalletTimeline,
    },
    ({ principal, query: { days } }) => getTimeline({ db, now: clock.now(), currency: config.currency }, principal.accountId, days),
  )
}
