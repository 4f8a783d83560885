import { Type } from '../../http/api/schema.ts'
import { createRegion, listPlans, listRegions } from '../catalog/service.ts'
import type { Routes } from '../deps.ts'
import { OPERATOR } from '../sessions/service.ts'
import * as fleet from './fleet.ts'
import * as shapes from './fleet.schema.ts'

const common = { tag: 'Operator', scope: OPERATOR }
const params = { id: Type.String() }

export const fleetRoutes: Routes = (api, { db, clock, config: { currency } }) => {
  api.get(
    '/operator/hosts',
    { operationId: 'operatorListHosts', summary: 'List hosts', ...common, data: Type.Array(shapes.OperatorHost) },
    () => fleet.showHosts(db),
  )

  api.patch(
    '/operator/hosts/:id',
    {
      operationId: 'operatorChangeHost',
      summary: 'Put a host into maintenance, or change how much of it is sold',
      ...common,
      params,
      body: shapes.ChangeHost,
      data: shapes.OperatorHost,
      errorCodes: ['in_use'],
    },
    (tx, { params: { id }, body }) => fleet.changeHostByOperator(tx, id, body),
  )

  api.get(
    '/operator/hosts/:id',
    {
      operationId: 'operatorGetHost',
      summary: 'Get a host with its storage, its ports and its power',
      ...common,
      params,
      data: shapes.OperatorHostDetails,
    },
    ({ params: { id } }) => fleet.showHost(db, id),
  )

  api.get(
    '/operator/hosts/:id/load',
    {
      operationId: 'operatorGetHostLoad',
      summary: 'What the VMs of a host use of it, in averages of five minutes',
      ...common,
      params,
      query: { hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 24, default: 24 })) },
      data: Type.Array(shapes.HostLoadPoint),
    },
    ({ params: { id }, query: { hours = 24 } }) => fleet.showHostLoad(db, clock.now(), id, hours),
  )

  api.get(
    '/operator/recoveries',
    {
      operationId: 'operatorListRecoveries',
      summary: 'List VMs of lost hosts that another host could not start yet',
      ...common,
      data: Type.Array(shapes.WaitingRecovery),
    },
    () => fleet.showRecoveries(db),
  )

  api.get(
    '/operator/capacity',
    { operationId: 'operatorGetCapacity', summary: 'What is left to sell, by region', ...common, data: Type.Array(shapes.RegionCapacity) },
    () => fleet.showCapacity(db, clock.now()),
  )

  api.get(
    '/operator/regions',
    { operationId: 'operatorListRegions', summary: 'List regions', ...common, data: Type.Array(shapes.Region) },
    () => listRegions(db),
  )

  api.post(
    '/operator/regions',
    {
      operationId: 'operatorCreateRegion',
      summary: 'Add a region',
      ...common,
      body: shapes.CreateRegion,
      status: 201,
      data: shapes.Region,
      errorCodes: ['already_exists'],
    },
    (tx, { body: { available = true, ...region } }) => createRegion(tx, clock.now(), { ...region, available }),
  )

  api.patch(
    '/operator/regions/:id',
    {
      operationId: 'operatorChangeRegion',
      summary: 'Change a region; its VMs stay as they are',
      ...common,
      params,
      body: shapes.ChangeRegion,
      data: shapes.Region,
    },
    (tx, { params: { id }, body }) => fleet.changeRegionByOperator(tx, id, body),
  )

  api.get(
    '/operator/pools',
    { operationId: 'operatorListPools', summary: 'List ranges of public addresses', ...common, data: Type.Array(shapes.Pool) },
    () => fleet.showPools(db, clock.now()),
  )

  api.post(
    '/operator/pools',
    {
      operationId: 'operatorCreatePool',
      summary: 'Add a range of public addresses',
      ...common,
      body: shapes.CreatePool,
      status: 201,
      data: shapes.Pool,
      errorCodes: ['not_found', 'already_exists', 'networks_overlap'],
    },
    (tx, { body }) => fleet.createPool(tx, clock.now(), body),
  )

  api.get('/operator/plans', { operationId: 'operatorListPlans', summary: 'List plans', ...common, data: Type.Array(shapes.Plan) }, () =>
    listPlans(db, currency),
  )

  api.post(
    '/operator/plans',
    {
      operationId: 'operatorCreatePlan',
      summary: 'Add a plan',
      ...common,
      body: shapes.CreatePlan,
      status: 201,
      data: shapes.Plan,
      errorCodes: ['not_found', 'already_exists'],
    },
    (tx, { body }) => fleet.createPlanByOperator(tx, clock.now(), currency, body),
  )

  api.patch(
    '/operator/plans/:id',
    {
      operationId: 'operatorChangePlan',
      summary: 'Change a plan; VMs pay a new price from their next renewal',
      ...common,
      params,
      body: shapes.ChangePlan,
      data: shapes.Plan,
    },
    (tx, { params: { id }, body }) => fleet.changePlanByOperator(tx, currency, id, body),
  )
}
