import { Type } from '../../http/api/schema.ts'
import type { Routes } from '../deps.ts'
import { quotedOnDryRun, Transaction } from '../wallet/schema.ts'
import { BandwidthUsage, BuyBandwidthPack } from './schema.ts'
import { buyPack, listPacks, listUsage } from './service.ts'

const tag = 'Bandwidth'
const params = { vmId: Type.String() }

export const bandwidthRoutes: Routes = (api, deps) => {
  const { db } = deps

  api.get(
    '/bandwidth',
    {
      operationId: 'listBandwidth',
      summary: 'Get the traffic of all VMs in their billing month',
      tag,
      scope: 'bandwidth:read',
      data: Type.Array(BandwidthUsage),
    },
    ({ principal }) => listUsage(db, principal.accountId),
  )

  api.page(
    '/vms/:vmId/bandwidth/packs',
    {
      operationId: 'listBandwidthPacks',
      summary: 'List the bandwidth packs bought for a VM, newest first',
      tag,
      scope: 'bandwidth:read',
      params,
      data: Transaction,
    },
    ({ principal, params: { vmId } }, page) => listPacks(db, principal, vmId, page),
  )

  api.post(
    '/vms/:vmId/bandwidth/packs',
    {
      operationId: 'buyBandwidthPack',
      errorCodes: ['invalid_state', 'incompatible', 'insufficient_funds'],
      summary: 'Buy traffic for the rest of the billing month',
      tag,
      scope: 'bandwidth:create',
      params,
      body: BuyBandwidthPack,
      status: 201,
      data: Transaction,
      ...quotedOnDryRun,
    },
    (tx, { principal, params: { vmId }, query, body }) => buyPack(tx, deps, principal.accountId, { ...body, vmId, dryRun: query.dryRun }),
  )
}
