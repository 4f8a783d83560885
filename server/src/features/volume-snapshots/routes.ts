import { ApiResponse, DryRunResult } from '../../http/api/api.ts'
import { Type } from '../../http/api/schema.ts'
import { ActionStarted } from '../actions/schema.ts'
import type { Routes } from '../deps.ts'
import { CreateSnapshot, SnapshotQuery, UpdateSnapshot } from '../snapshots/schema.ts'
import { quotedOnDryRun } from '../wallet/schema.ts'
import { VolumeSnapshot, VolumeSnapshotCreated } from './schema.ts'
import {
  createVolumeSnapshot,
  getVolumeSnapshot,
  listVolumeSnapshots,
  removeVolumeSnapshot,
  restoreVolumeSnapshot,
  updateVolumeSnapshot,
  type OnVm,
} from './service.ts'

const tag = 'Volumes'
const ofVolume = { volumeId: Type.String() }
const params = { ...ofVolume, id: Type.String() }

/** Of a detached volume the snapshot itself says what has become of the action. */
const accepted = <Data extends ActionStarted>({ vmId, ...data }: OnVm<Data>, path: string) =>
  new ApiResponse(data as unknown as Data, 202, vmId === null ? path : `/vms/${vmId}/actions/${data.actionId}`)

export const volumeSnapshotRoutes: Routes = (api, deps) => {
  const { db } = deps

  api.post(
    '/volumes/:volumeId/snapshots',
    {
      operationId: 'createVolumeSnapshot',
      summary: 'Take a snapshot of a volume, attached or not',
      tag,
      scope: 'snapshots:create',
      params: ofVolume,
      body: CreateSnapshot,
      status: 202,
      data: VolumeSnapshotCreated,
      errorCodes: ['busy', 'invalid_state', 'quota_exceeded', 'insufficient_funds', 'no_capacity'],
      ...quotedOnDryRun,
    },
    async (tx, { principal, params: { volumeId }, body, query }) => {
      const result = await createVolumeSnapshot(tx, deps, principal, volumeId, body, query.dryRun)
      return result instanceof DryRunResult ? result : accepted(result, `/volumes/${volumeId}/snapshots/${result.snapshot.id}`)
    },
  )

  api.page(
    '/volumes/:volumeId/snapshots',
    {
      operationId: 'listVolumeSnapshots',
      summary: 'List the snapshots of a volume, newest first',
      tag,
      scope: 'snapshots:read',
      params: ofVolume,
      query: SnapshotQuery,
      data: VolumeSnapshot,
    },
    ({ principal, params: { volumeId }, query }, page) => listVolumeSnapshots(db, principal.accountId, volumeId, query.labelSelector, page),
  )

  api.get(
    '/volumes/:volumeId/snapshots/:id',
    {
      operationId: 'getVolumeSnapshot',
      summary: 'Get a snapshot of a volume',
      tag,
      scope: 'snapshots:read',
      params,
      data: VolumeSnapshot,
    },
    ({ principal, params: { volumeId, id } }) => getVolumeSnapshot(db, principal.accountId, volumeId, id),
  )

  api.patch(
    '/volumes/:volumeId/snapshots/:id',
    {
      operationId: 'updateVolumeSnapshot',
      summary: 'Rename, describe or label a snapshot of a volume',
      tag,
      scope: 'snapshots:update',
      params,
      body: UpdateSnapshot,
      data: VolumeSnapshot,
      before: (tx, { principal, params: { volumeId, id } }) => getVolumeSnapshot(tx, principal.accountId, volumeId, id),
    },
    (tx, { principal, params: { volumeId, id }, body }) => updateVolumeSnapshot(tx, principal.accountId, volumeId, id, body),
  )

  api.post(
    '/volumes/:volumeId/snapshots/:id/restore',
    {
      operationId: 'restoreVolumeSnapshot',
      summary: 'Put a detached volume back to the moment of a snapshot; what was written since is lost',
      tag,
      scope: 'snapshots:restore',
      params,
      status: 202,
      data: ActionStarted,
      errorCodes: ['busy', 'in_use', 'invalid_state', 'protected', 'no_capacity'],
    },
    async (tx, { principal, params: { volumeId, id } }) =>
      new ApiResponse(await restoreVolumeSnapshot(tx, deps, principal, volumeId, id), 202, `/volumes/${volumeId}`),
  )

  api.delete(
    '/volumes/:volumeId/snapshots/:id',
    {
      operationId: 'deleteVolumeSnapshot',
      summary: 'Delete a snapshot of a volume',
      tag,
      scope: 'snapshots:delete',
      params,
      status: 202,
      data: ActionStarted,
      errorCodes: ['busy', 'invalid_state'],
      before: (tx, { principal, params: { volumeId, id } }) => getVolumeSnapshot(tx, principal.accountId, volumeId, id),
    },
    async (tx, { principal, params: { volumeId, id } }) =>
      accepted(await removeVolumeSnapshot(tx, deps, principal, volumeId, id), `/volumes/${volumeId}/snapshots/${id}`),
  )
}
