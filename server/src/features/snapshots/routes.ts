import { Type } from '../../http/api/schema.ts'
import { ActionStarted } from '../actions/schema.ts'
import { accepted } from '../actions/service.ts'
import type { Routes } from '../deps.ts'
import { quotedOnDryRun } from '../wallet/schema.ts'
import { CreateSnapshot, Snapshot, SnapshotCreated, SnapshotQuery, UpdateSnapshot } from './schema.ts'
import { createSnapshot, getSnapshot, listSnapshots, removeSnapshot, restoreSnapshot, updateSnapshot } from './service.ts'

const tag = 'Snapshots'
const ofVm = { vmId: Type.String() }
const params = { ...ofVm, id: Type.String() }

export const snapshotRoutes: Routes = (api, deps) => {
  const { db } = deps

  api.post(
    '/vms/:vmId/snapshots',
    {
      operationId: 'createSnapshot',
      summary: 'Take a snapshot of a VM',
      tag,
      scope: 'snapshots:create',
      params: ofVm,
      body: CreateSnapshot,
      status: 202,
      data: SnapshotCreated,
      errorCodes: ['busy', 'invalid_state', 'quota_exceeded', 'insufficient_funds', 'no_capacity'],
      ...quotedOnDryRun,
    },
    async (tx, { principal, params: { vmId }, body, query }) =>
      accepted(vmId, await createSnapshot(tx, deps, principal, vmId, body, query.dryRun)),
  )

  api.page(
    '/vms/:vmId/snapshots',
    {
      operationId: 'listSnapshots',
      summary: 'List the snapshots of a VM, newest first',
      tag,
      scope: 'snapshots:read',
      params: ofVm,
      query: SnapshotQuery,
      data: Snapshot,
    },
    ({ principal, params: { vmId }, query }, page) => listSnapshots(db, principal.accountId, vmId, query.labelSelector, page),
  )

  api.get(
    '/vms/:vmId/snapshots/:id',
    { operationId: 'getSnapshot', summary: 'Get a snapshot', tag, scope: 'snapshots:read', params, data: Snapshot },
    ({ principal, params: { vmId, id } }) => getSnapshot(db, principal.accountId, vmId, id),
  )

  api.patch(
    '/vms/:vmId/snapshots/:id',
    {
      operationId: 'updateSnapshot',
      summary: 'Rename, describe or label a snapshot',
      tag,
      scope: 'snapshots:update',
      params,
      body: UpdateSnapshot,
      data: Snapshot,
      before: (tx, { principal, params: { vmId, id } }) => getSnapshot(tx, principal.accountId, vmId, id),
    },
    (tx, { principal, params: { vmId, id }, body }) => updateSnapshot(tx, principal.accountId, vmId, id, body),
  )

  api.post(
    '/vms/:vmId/snapshots/:id/restore',
    {
      operationId: 'restoreSnapshot',
      summary: 'Put a VM back to the moment of a snapshot; what was written since is lost',
      tag,
      scope: 'snapshots:restore',
      params,
      status: 202,
      data: ActionStarted,
      errorCodes: ['busy', 'invalid_state', 'protected', 'no_capacity'],
    },
    async (tx, { principal, params: { vmId, id } }) => accepted(vmId, await restoreSnapshot(tx, deps, principal, vmId, id)),
  )

  api.delete(
    '/vms/:vmId/snapshots/:id',
    {
      operationId: 'deleteSnapshot',
      summary: 'Delete a snapshot',
      tag,
      scope: 'snapshots:delete',
      params,
      status: 202,
      data: ActionStarted,
      errorCodes: ['busy', 'invalid_state'],
      before: (tx, { principal, params: { vmId, id } }) => getSnapshot(tx, principal.accountId, vmId, id),
    },
    async (tx, { principal, params: { vmId, id } }) => accepted(vmId, await removeSnapshot(tx, deps, principal, vmId, id)),
  )
}
