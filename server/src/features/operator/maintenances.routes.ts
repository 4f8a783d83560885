// Maintenances of hosts, announced to the customers concerned.
import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { announceMaintenance, cancelMaintenance, listAllMaintenances } from '../maintenances/service.ts'
import { OPERATOR } from '../sessions/service.ts'
import * as shapes from './moves.schema.ts'

const common = { tag: 'Operator', scope: OPERATOR }

export const maintenanceRoutes: Routes = (api, deps) => {
  api.get(
    '/operator/maintenances',
    {
      operationId: 'operatorListMaintenances',
      summary: 'List maintenances, newest first',
      ...common,
      data: Type.Array(shapes.OperatorMaintenance),
    },
    () => listAllMaintenances(deps.db, deps.clock.now()),
  )

  api.post(
    '/operator/maintenances',
    {
      operationId: 'operatorAnnounceMaintenance',
      summary: 'Announce a maintenance to all accounts with VMs on a host; changes nothing about the host',
      ...common,
      requiresReauth: true,
      body: shapes.AnnounceMaintenance,
      status: 201,
      data: shapes.AnnouncedMaintenance,
      errorCodes: ['not_found'],
    },
    (tx, { body: { startsAt, endsAt, ...rest } }) =>
      announceMaintenance(tx, deps, { ...rest, startsAt: new Date(startsAt), endsAt: new Date(endsAt) }),
  )

  api.delete(
    '/operator/maintenances/:id',
    {
      operationId: 'operatorCancelMaintenance',
      summary: 'Cancel a maintenance that has not ended; those who were told of it are notified',
      ...common,
      params: { id: Type.String() },
      data: shapes.AnnouncedMaintenance,
      errorCodes: ['invalid_state'],
    },
    (tx, { params: { id } }) => cancelMaintenance(tx, deps, id),
  )
}
