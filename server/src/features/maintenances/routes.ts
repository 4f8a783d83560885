import type { Routes } from '../deps.ts'
import { Maintenance } from './schema.ts'
import { listMaintenances } from './service.ts'

export const maintenanceRoutes: Routes = (api, { db, clock }) => {
  api.page(
    '/maintenances',
    {
      operationId: 'listMaintenances',
      summary: 'List maintenances of hosts of your VMs that the operator has announced, newest first',
      tag: 'Maintenances',
      scope: 'vms:read',
      data: Maintenance,
    },
    ({ principal }, page) => listMaintenances(db, clock.now(), principal.accountId, page),
  )
}
