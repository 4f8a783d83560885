import type { Routes } from '../deps.ts'
import { OPERATOR } from '../sessions/service.ts'
import { Revenue, RevenueQuery } from './revenue.schema.ts'
import { showRevenue } from './revenue.ts'

export const revenueRoutes: Routes = (api, { db, clock, config }) => {
  api.get(
    '/operator/revenue',
    {
      operationId: 'operatorGetRevenue',
      summary: 'What was earned in a month, by type and region, and what stands now',
      tag: 'Operator',
      scope: OPERATOR,
      query: RevenueQuery,
      data: Revenue,
    },
    ({ query: { month } }) => showRevenue(db, clock.now(), config.currency, month),
  )
}
