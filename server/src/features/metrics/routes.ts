import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { MetricsQuery, VmMetrics } from './schema.ts'
import { getMetrics } from './service.ts'

export const metricsRoutes: Routes = (api, deps) => {
  api.get(
    '/vms/:id/metrics',
    {
      operationId: 'getVmMetrics',
      summary: 'Get what a VM used of CPU, memory, disk and network over time',
      tag: 'Virtual machines',
      scope: 'vms:read',
      params: { id: Type.String() },
      query: MetricsQuery,
      data: VmMetrics,
    },
    ({ principal, params: { id }, query }) => getMetrics(deps, principal.accountId, id, query),
  )
}
