// Moves of VMs: drains of hosts, and migrations of single VMs.
import { nullable, Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { cancelDrain, findDrainStatus, previewDrain, startDrain } from '../fleet/service.ts'
import { getHost } from '../hosts/service.ts'
import { OPERATOR } from '../sessions/service.ts'
import { cancelMigration, planMigration, startMigration } from '../vms/service.ts'
import { Done } from './customers.schema.ts'
import * as shapes from './moves.schema.ts'

const common = { tag: 'Operator', scope: OPERATOR, params: { id: Type.String() } }

export const moveRoutes: Routes = (api, deps) => {
  const { db } = deps

  api.get(
    '/operator/hosts/:id/drain/plan',
    { operationId: 'operatorPlanDrain', summary: 'What a drain would do now; changes nothing', ...common, data: shapes.DrainPlan },
    async ({ params: { id } }) => previewDrain(deps, await getHost(db, id)),
  )

  api.get(
    '/operator/hosts/:id/drain',
    { operationId: 'operatorGetDrain', summary: 'Get the last drain of a host', ...common, data: nullable(shapes.Drain) },
    async ({ params: { id } }) => (await findDrainStatus(db, await getHost(db, id))) ?? null,
  )

  api.post(
    '/operator/hosts/:id/drain',
    {
      operationId: 'operatorStartDrain',
      summary: 'Put a host into maintenance, and move its VMs to others',
      ...common,
      body: shapes.StartDrain,
      status: 202,
      data: shapes.Drain,
      errorCodes: ['busy', 'in_use', 'unavailable'],
    },
    async (tx, { params: { id }, body: { concurrency = 2, stopOthers = false, partial = false } }) => {
      const host = await getHost(tx, id)
      await startDrain(tx, deps, host, { concurrency, stopsOthers: stopOthers, isPartial: partial })
      return (await findDrainStatus(tx, host, false))!
    },
  )

  api.delete(
    '/operator/hosts/:id/drain',
    {
      operationId: 'operatorCancelDrain',
      summary: 'Move no further VM; migrations under way go on, and the host stays in maintenance',
      ...common,
      data: shapes.Drain,
      errorCodes: ['invalid_state'],
    },
    async (tx, { params: { id } }) => cancelDrain(tx, deps, await getHost(tx, id)),
  )

  api.get(
    '/operator/vms/:id/migration/plan',
    {
      operationId: 'operatorPlanMigration',
      summary: 'Where a VM would be moved now; changes nothing',
      ...common,
      query: shapes.MigrationQuery,
      data: shapes.MigrationPlan,
      errorCodes: ['busy', 'invalid_state', 'no_capacity', 'unavailable'],
    },
    ({ params: { id }, query: { to } }) => planMigration(deps, id, { to }),
  )

  api.post(
    '/operator/vms/:id/migration',
    {
      operationId: 'operatorStartMigration',
      summary: 'Move a VM to another host of its region, a running one without stopping it',
      ...common,
      body: shapes.StartMigration,
      status: 202,
      data: Done,
      errorCodes: ['busy', 'invalid_state', 'no_capacity', 'unavailable'],
    },
    async (tx, { params: { id }, body }) => {
      const { actionId, from, to } = await startMigration(tx, deps, id, body)
      return { message: `The VM is being moved from ${from} to ${to}`, actionId }
    },
  )

  api.delete(
    '/operator/vms/:id/migration',
    {
      operationId: 'operatorCancelMigration',
      summary: 'Abort a migration: the VM stays on its old host',
      ...common,
      data: Done,
      errorCodes: ['busy', 'invalid_state'],
    },
    async (tx, { params: { id } }) => ({ message: 'The VM stays on its host', ...(await cancelMigration(tx, deps, id)) }),
  )
}
