import { DryRunResult } from '../../http/api/api.ts'
import type { Principal } from '../../http/api/principal.ts'
import { Type } from '../../http/api/schema.ts'
import { ActionStarted } from '../actions/schema.ts'
import { accepted } from '../actions/service.ts'
import type { Routes } from '../deps.ts'
import { quotedOnDryRun } from '../wallet/schema.ts'
import { createVm } from './actions/create.ts'
import { remove } from './actions/delete.ts'
import { attachIso, detachIso } from './actions/iso.ts'
import { attach, detach } from './actions/attach-network.ts'
import { resetPassword, restart, start, stop } from './actions/power.ts'
import { rebuild } from './actions/rebuild.ts'
import { rescue, unrescue } from './actions/rescue.ts'
import { resize } from './actions/resize.ts'
import { shelve } from './actions/shelve.ts'
import { unshelve } from './actions/unshelve.ts'
import { hashGuestPassword } from './model/guest-password.ts'
import {
  AttachIso,
  AttachNetwork,
  CheckReach,
  CreateQuote,
  CreateVm,
  ForceOption,
  Reach,
  RebuildVm,
  RescueVm,
  ResizeQuote,
  ResizeVm,
  SetPassword,
  UpdateVm,
  UpgradeVm,
  Vm,
  VmCreated,
  VmListItem,
  VmQuery,
} from './schema.ts'
import { listVms } from './model/list.ts'
import { checkReach } from './model/reach.ts'
import { getVm } from './model/read.ts'
import { update } from './actions/update.ts'
import { upgrade } from './actions/upgrade.ts'

const tag = 'Virtual machines'
const params = { id: Type.String() }
/** A dry run stores no password. */
const ofPassword = {
  preparesFor: ({ body, query }: { body: { password?: string }; query: { dryRun?: boolean } }) =>
    body.password !== undefined && !query.dryRun,
  prepare: ({ principal, body }: { principal: Principal; body: { password?: string } }) =>
    hashGuestPassword(principal.payerId, body.password!),
}
const started = { tag, params, status: 202, data: ActionStarted }

export const vmRoutes: Routes = (api, deps) => {
  const { db } = deps

  api.post(
    '/vms',
    {
      operationId: 'createVm',
      givesLogin: true,
      errorCodes: [
        'not_found',
        'busy',
        'in_use',
        'invalid_state',
        'region_mismatch',
        'unavailable',
        'incompatible',
        'quota_exceeded',
        'insufficient_funds',
        'no_capacity',
      ],
      summary: 'Create a VM, or several that are alike',
      tag,
      scope: 'vms:create',
      body: CreateVm,
      status: 202,
      data: VmCreated,
      ...quotedOnDryRun,
      dryRunData: CreateQuote,
      ...ofPassword,
    },
    async (tx, { principal, body, query }, passwordHash) => {
      const created = await createVm(tx, deps, principal, body, query.dryRun, passwordHash)
      return created instanceof DryRunResult ? created : accepted(created.vm.id, created)
    },
  )

  api.page(
    '/vms',
    { operationId: 'listVms', summary: 'List VMs', tag, scope: 'vms:read', query: VmQuery, data: VmListItem },
    ({ principal, query }, page) => listVms(db, principal.accountId, query, page),
  )

  api.get(
    '/vms/:id',
    { operationId: 'getVm', summary: 'Get a VM', tag, scope: 'vms:read', params, data: Vm },
    ({ principal, params: { id } }) => getVm(db, principal.accountId, id),
  )

  api.patch(
    '/vms/:id',
    {
      operationId: 'updateVm',
      errorCodes: ['busy', 'invalid_state', 'unavailable', 'incompatible', 'insufficient_funds'],
      summary:
        'Rename, label or protect a VM, switch its daily backups or 10G, set when they are made and how long they are kept, its placement group, or the names of its addresses in reverse DNS',
      tag,
      scope: 'vms:update',
      params,
      body: UpdateVm,
      data: Vm,
      ...quotedOnDryRun,
      before: (tx, { principal, params: { id } }) => getVm(tx, principal.accountId, id),
    },
    (tx, { principal, params: { id }, body, query }) => update(tx, deps, principal, id, body, query.dryRun),
  )

  api.delete(
    '/vms/:id',
    {
      operationId: 'deleteVm',
      errorCodes: ['busy', 'invalid_state', 'protected'],
      summary: 'Delete a VM',
      scope: 'vms:delete',
      requiresReauth: true,
      ...started,
      ...quotedOnDryRun,
      before: (tx, { principal, params: { id } }) => getVm(tx, principal.accountId, id),
    },
    async (tx, { principal, params: { id }, query }) => accepted(id, await remove(tx, deps, principal, id, query.dryRun)),
  )

  api.post(
    '/vms/:id/start',
    { operationId: 'startVm', errorCodes: ['busy', 'invalid_state'], summary: 'Start a VM', scope: 'vms:power', ...started },
    async (tx, { principal, params: { id } }) => accepted(id, await start(tx, deps, principal, id)),
  )

  api.post(
    '/vms/:id/stop',
    {
      operationId: 'stopVm',
      errorCodes: ['busy', 'invalid_state'],
      summary: 'Stop a VM',
      scope: 'vms:power',
      ...started,
      body: ForceOption,
      optionalBody: true,
    },
    async (tx, { principal, params: { id }, body }) => accepted(id, await stop(tx, deps, principal, id, body?.force)),
  )

  api.post(
    '/vms/:id/restart',
    {
      operationId: 'restartVm',
      errorCodes: ['busy', 'invalid_state'],
      summary: 'Restart a VM',
      scope: 'vms:power',
      ...started,
      body: ForceOption,
      optionalBody: true,
    },
    async (tx, { principal, params: { id }, body }) => accepted(id, await restart(tx, deps, principal, id, body?.force)),
  )

  api.post(
    '/vms/:id/upgrade',
    {
      operationId: 'upgradeVm',
      errorCodes: [
        'busy',
        'invalid_state',
        'plan_not_larger',
        'unavailable',
        'incompatible',
        'quota_exceeded',
        'insufficient_funds',
        'no_capacity',
      ],
      summary: 'Upgrade a VM to a larger plan',
      scope: 'vms:update',
      ...started,
      body: UpgradeVm,
      ...quotedOnDryRun,
      dryRunData: ResizeQuote,
    },
    async (tx, { principal, params: { id }, body, query }) => accepted(id, await upgrade(tx, deps, principal, id, body, query.dryRun)),
  )

  api.post(
    '/vms/:id/resize',
    {
      operationId: 'resizeVm',
      errorCodes: ['busy', 'invalid_state', 'unavailable', 'incompatible', 'quota_exceeded', 'insufficient_funds', 'no_capacity'],
      summary: 'Change the size of a VM, up or down',
      scope: 'vms:update',
      ...started,
      body: ResizeVm,
      ...quotedOnDryRun,
      dryRunData: ResizeQuote,
    },
    async (tx, { principal, params: { id }, body, query }) => accepted(id, await resize(tx, deps, principal, id, body, query.dryRun)),
  )

  api.post(
    '/vms/:id/rebuild',
    {
      operationId: 'rebuildVm',
      givesLogin: true,
      errorCodes: [
        'busy',
        'invalid_state',
        'protected',
        'unavailable',
        'incompatible',
        'quota_exceeded',
        'insufficient_funds',
        'no_capacity',
      ],
      summary: 'Reinstall a VM; everything on its disk is lost',
      scope: 'vms:update',
      requiresReauth: true,
      ...started,
      body: RebuildVm,
      ...quotedOnDryRun,
      ...ofPassword,
    },
    async (tx, { principal, params: { id }, body, query }, passwordHash) =>
      accepted(id, await rebuild(tx, deps, principal, id, body, query.dryRun, passwordHash)),
  )

  api.post(
    '/vms/:id/shelve',
    {
      operationId: 'shelveVm',
      errorCodes: ['busy', 'invalid_state', 'in_use', 'unavailable', 'no_capacity'],
      summary: 'Take a VM off its host: its disk is stored, and until it is unshelved it costs its disk and addresses only',
      scope: 'vms:update',
      ...started,
      ...quotedOnDryRun,
    },
    async (tx, { principal, params: { id }, query }) => accepted(id, await shelve(tx, deps, principal, id, query.dryRun)),
  )

  api.post(
    '/vms/:id/unshelve',
    {
      operationId: 'unshelveVm',
      errorCodes: ['busy', 'invalid_state', 'insufficient_funds', 'no_capacity'],
      summary: 'Bring a shelved VM back to a host, with its disk and addresses; it is started if it ran when it was shelved',
      scope: 'vms:update',
      ...started,
      ...quotedOnDryRun,
    },
    async (tx, { principal, params: { id }, query }) => accepted(id, await unshelve(tx, deps, principal, id, query.dryRun)),
  )

  api.post(
    '/vms/:id/rescue',
    {
      operationId: 'rescueVm',
      givesLogin: true,
      errorCodes: ['busy', 'invalid_state', 'unavailable', 'incompatible', 'no_capacity'],
      summary: 'Restart a VM into a rescue system, with its own disk attached beside it, to mend that; it ends by itself after 24 hours',
      scope: 'vms:update',
      ...started,
      body: RescueVm,
      preparesFor: ({ body }) => body.password !== undefined,
      prepare: ({ principal, body }) => hashGuestPassword(principal.payerId, body.password!),
    },
    async (tx, { principal, params: { id }, body }, hash) => accepted(id, await rescue(tx, deps, principal, id, body, hash)),
  )

  api.delete(
    '/vms/:id/rescue',
    {
      operationId: 'unrescueVm',
      errorCodes: ['busy', 'invalid_state'],
      summary: 'End the rescue of a VM: it is restarted from its own disk, and what is on the disk of the rescue system is lost',
      scope: 'vms:update',
      ...started,
    },
    async (tx, { principal, params: { id } }) => accepted(id, await unrescue(tx, deps, principal, id)),
  )

  api.put(
    '/vms/:id/iso',
    {
      operationId: 'attachIso',
      errorCodes: ['not_found', 'busy', 'invalid_state', 'incompatible', 'no_capacity'],
      summary: 'Put an ISO image into the CD drive of a VM, which starts from it first until it is taken out',
      scope: 'vms:update',
      ...started,
      body: AttachIso,
    },
    async (tx, { principal, params: { id }, body }) => accepted(id, await attachIso(tx, deps, principal, id, body)),
  )

  api.delete(
    '/vms/:id/iso',
    {
      operationId: 'detachIso',
      errorCodes: ['busy', 'invalid_state'],
      summary: 'Take the ISO image out of the CD drive of a VM, at once',
      scope: 'vms:update',
      ...started,
    },
    async (tx, { principal, params: { id } }) => accepted(id, await detachIso(tx, deps, principal, id)),
  )

  api.post(
    '/vms/:id/password',
    {
      operationId: 'setVmPassword',
      givesLogin: true,
      errorCodes: ['busy', 'invalid_state', 'incompatible'],
      summary: 'Set the login password of a running VM',
      scope: 'vms:update',
      ...started,
      body: SetPassword,
      prepare: ({ principal, body }) => hashGuestPassword(principal.accountId, body.password),
    },
    async (tx, { principal, params: { id } }, hash) => accepted(id, await resetPassword(tx, deps, principal, id, hash)),
  )

  api.post(
    '/vms/:id/reach',
    {
      operationId: 'checkReach',
      summary: 'Say whether a VM reaches an address or another VM, and what decides on the way. Nothing is sent',
      tag,
      scope: 'firewalls:read',
      params,
      body: CheckReach,
      data: Reach,
    },
    (tx, { principal, params: { id }, body }) => checkReach(tx, deps.config, principal.accountId, id, body),
  )

  api.post(
    '/vms/:id/networks',
    {
      operationId: 'attachNetwork',
      errorCodes: ['busy', 'invalid_state', 'already_exists', 'region_mismatch', 'incompatible', 'quota_exceeded'],
      summary: 'Attach a VM to a private network',
      scope: 'networks:update',
      ...started,
      body: AttachNetwork,
    },
    async (tx, { principal, params: { id }, body }) => accepted(id, await attach(tx, deps, principal, id, body.networkId)),
  )

  api.delete(
    '/vms/:id/networks/:networkId',
    {
      operationId: 'detachNetwork',
      errorCodes: ['busy', 'invalid_state'],
      summary: 'Detach a VM from a private network',
      scope: 'networks:update',
      ...started,
      params: { ...params, networkId: Type.String() },
    },
    async (tx, { principal, params: { id, networkId } }) => accepted(id, await detach(tx, deps, principal, id, networkId)),
  )
}
