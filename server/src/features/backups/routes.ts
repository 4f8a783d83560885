import { Type } from '../../http/api/schema.ts'
import { ActionStarted } from '../actions/schema.ts'
import { accepted } from '../actions/service.ts'
import type { Routes } from '../deps.ts'
import { quotedOnDryRun } from '../wallet/schema.ts'
import { Backup, BackupCreated, BackupDeleted, BackupQuery, BackupScreenshot, CreateBackup, RestoreBackup, UpdateBackup } from './schema.ts'
import { createBackup, deleteBackup, getBackup, getBackupScreenshot, listBackups, restoreBackup, updateBackup } from './service.ts'

const tag = 'Backups'
const ofVm = { vmId: Type.String() }
const params = { ...ofVm, id: Type.String() }

export const backupRoutes: Routes = (api, deps) => {
  const { db } = deps

  api.page(
    '/vms/:vmId/backups',
    {
      operationId: 'listBackups',
      summary: 'List the backups of a VM, newest first',
      tag,
      scope: 'backups:read',
      params: ofVm,
      query: BackupQuery,
      data: Backup,
    },
    ({ principal, params: { vmId }, query }, page) => listBackups(db, principal.accountId, vmId, query.labelSelector, page),
  )

  api.post(
    '/vms/:vmId/backups',
    {
      operationId: 'createBackup',
      summary: 'Make a backup of a VM',
      tag,
      scope: 'backups:create',
      params: ofVm,
      body: CreateBackup,
      status: 202,
      data: BackupCreated,
      errorCodes: ['busy', 'invalid_state', 'incompatible', 'quota_exceeded', 'insufficient_funds', 'no_capacity'],
      ...quotedOnDryRun,
    },
    async (tx, { principal, params: { vmId }, body, query }) =>
      accepted(vmId, await createBackup(tx, deps, principal, vmId, body, query.dryRun)),
  )

  api.get(
    '/vms/:vmId/backups/:id',
    { operationId: 'getBackup', summary: 'Get a backup', tag, scope: 'backups:read', params, data: Backup },
    ({ principal, params: { vmId, id } }) => getBackup(db, principal.accountId, vmId, id),
  )

  api.patch(
    '/vms/:vmId/backups/:id',
    {
      operationId: 'updateBackup',
      summary: 'Rename or label a backup',
      tag,
      scope: 'backups:update',
      params,
      body: UpdateBackup,
      data: Backup,
      before: (tx, { principal, params: { vmId, id } }) => getBackup(tx, principal.accountId, vmId, id),
    },
    (tx, { principal, params: { vmId, id }, body }) => updateBackup(tx, principal.accountId, vmId, id, body),
  )

  api.get(
    '/vms/:vmId/backups/:id/screenshot',
    {
      operationId: 'getBackupScreenshot',
      summary: 'Get a picture of the screen of the guest that a backup was restored into on trial',
      tag,
      scope: 'vms:console',
      params,
      data: BackupScreenshot,
    },
    ({ principal, params: { vmId, id } }) => getBackupScreenshot(db, principal.accountId, vmId, id),
  )

  api.post(
    '/vms/:vmId/backups/:id/restore',
    {
      operationId: 'restoreBackup',
      summary: 'Put a VM back to the moment of a backup; what was written since is lost',
      tag,
      scope: 'backups:restore',
      params,
      body: RestoreBackup,
      optionalBody: true,
      status: 202,
      data: ActionStarted,
      errorCodes: ['busy', 'invalid_state', 'protected', 'no_capacity'],
    },
    async (tx, { principal, params: { vmId, id } }) => accepted(vmId, await restoreBackup(tx, deps, principal, vmId, id)),
  )

  api.delete(
    '/vms/:vmId/backups/:id',
    {
      operationId: 'deleteBackup',
      summary: 'Delete a backup. It reads DELETING until its data is gone; one that is being made is stopped',
      tag,
      scope: 'backups:delete',
      params,
      data: BackupDeleted,
      before: (tx, { principal, params: { vmId, id } }) => getBackup(tx, principal.accountId, vmId, id),
    },
    (tx, { principal, params: { vmId, id } }) => deleteBackup(tx, deps, principal, vmId, id),
  )
}
