import { Type } from '../../http/api/schema.ts'
import { accepted } from '../actions/service.ts'
import type { Routes } from '../deps.ts'
import { quotedOnDryRun } from '../wallet/schema.ts'
import { attachVolume, createVolume, detachVolume } from './attach.workflow.ts'
import { updateVolume } from './grow.workflow.ts'
import { AttachVolume, CreateVolume, DeletedVolume, UpdateVolume, Volume, VolumeChanging, VolumeQuery } from './schema.ts'
import { deleteVolume, getVolume, listVolumes } from './service.ts'

const tag = 'Volumes'
const params = { id: Type.String() }
const changed = { tag, scope: 'volumes:update', params, status: 202, data: VolumeChanging }

export const volumeRoutes: Routes = (api, deps) => {
  const { db } = deps

  api.page(
    '/volumes',
    {
      operationId: 'listVolumes',
      summary: 'List volumes, newest first',
      tag,
      scope: 'volumes:read',
      query: VolumeQuery,
      data: Volume,
    },
    ({ principal, query }, page) => listVolumes(db, principal.accountId, query, page),
  )

  api.post(
    '/volumes',
    {
      operationId: 'createVolume',
      errorCodes: [
        'not_found',
        'busy',
        'invalid_state',
        'unavailable',
        'region_mismatch',
        'incompatible',
        'quota_exceeded',
        'insufficient_funds',
        'no_capacity',
      ],
      summary: 'Create a disk that can move between VMs. It is charged monthly per GiB, attached or not',
      tag,
      scope: 'volumes:create',
      body: CreateVolume,
      status: 201,
      data: Volume,
      ...quotedOnDryRun,
    },
    (tx, { principal, body, query }) => createVolume(tx, deps, principal, body, query.dryRun),
  )

  api.get(
    '/volumes/:id',
    { operationId: 'getVolume', summary: 'Get a volume', tag, scope: 'volumes:read', params, data: Volume },
    ({ principal, params: { id } }) => getVolume(db, principal.accountId, id),
  )

  api.patch(
    '/volumes/:id',
    {
      operationId: 'updateVolume',
      errorCodes: ['busy', 'invalid_state', 'quota_exceeded', 'insufficient_funds', 'no_capacity'],
      summary:
        'Rename, label, protect or grow a volume. Growing is charged for the rest of the month; a running VM sees the new size at once',
      tag,
      scope: 'volumes:update',
      params,
      body: UpdateVolume,
      data: Volume,
      ...quotedOnDryRun,
      before: (tx, { principal, params: { id } }) => getVolume(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id }, body, query }) => updateVolume(tx, deps, principal, id, body, query.dryRun),
  )

  api.delete(
    '/volumes/:id',
    {
      operationId: 'deleteVolume',
      errorCodes: ['busy', 'in_use', 'protected'],
      summary: 'Delete a detached volume with its data and its snapshots. Unused whole days are refunded',
      tag,
      scope: 'volumes:delete',
      params,
      data: DeletedVolume,
      ...quotedOnDryRun,
      before: (tx, { principal, params: { id } }) => getVolume(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id }, query }) => deleteVolume(tx, deps, principal.accountId, id, query.dryRun),
  )

  api.post(
    '/volumes/:id/attach',
    {
      operationId: 'attachVolume',
      errorCodes: ['busy', 'in_use', 'invalid_state', 'incompatible', 'region_mismatch', 'quota_exceeded'],
      summary: 'Attach a volume to a VM, without a reboot',
      ...changed,
      body: AttachVolume,
    },
    async (tx, { principal, params: { id }, body: { vmId } }) => accepted(vmId, await attachVolume(tx, deps, principal, id, vmId)),
  )

  api.post(
    '/volumes/:id/detach',
    {
      operationId: 'detachVolume',
      errorCodes: ['busy', 'invalid_state'],
      summary: 'Detach a volume from its VM, without a reboot. Unmount it in the guest first',
      ...changed,
    },
    async (tx, { principal, params: { id } }) => {
      const changing = await detachVolume(tx, deps, principal, id)
      return accepted(changing.vmId, changing)
    },
  )
}
