import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { MetricsQuery, RecentQuery, RecentVmMetrics, VmMetrics } from './schema.ts'
import { getMetrics, getRecentMetrics } from './service.ts'

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

  api.get(
    '/vms/metrics/recent',
    {
      operationId: 'getRecentVmMetrics',
      summary: 'Get the CPU and traffic of many VMs over the last hours, as few points each: for lists',
      tag: 'Virtual machines',
      scope: 'vms:read',
      query: RecentQuery,
      data: RecentVmMetrics,
    },
    ({ principal, query: { vmIds } }) => getRecentMetrics(deps, principal.accountId, vmIds),
  )
}
