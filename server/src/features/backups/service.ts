import type { Principal } from '../../http/api/principal.ts'
import type { DryRunResult } from '../../http/api/api.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { quotaLimit } from '../accounts/service.ts'
import type { ActionStarted } from '../actions/schema.ts'
import type { Deps } from '../deps.ts'
import { isHostLost } from '../hosts/service.ts'
import {
  lockOwnVm,
  quoteCopy,
  releaseCopies,
  releaseCopyQuota,
  requireVm,
  reserveCopy,
  startAction,
  startRestore,
  startRunOf,
  type CopyTerms,
  type CountedCopy,
  type StartRun,
  type VmDetails,
} from '../vms/service.ts'
import type { Quote } from '../wallet/service.ts'
import { createBackupWorkflow } from './create.workflow.ts'
import { REMOVE } from './reconciler-names.ts'
import { chooseBackupHost } from './backup-host.ts'
import { restoreFromBackup } from './restore.workflow.ts'
import type { Backup, CreateBackup } from './schema.ts'
import * as sql from './sql.ts'
import { toBackup } from './view.ts'

export { listOrphanVolumes, removedAfter, type OrphanVolumeRow } from './orphan-volumes.ts'

const BACKUP_CREATE = 'BACKUP_CREATE'
const DAY_MS = parseDurationMs('1d')

/** An on-demand backup is always full. */
export const createBackup = (
  tx: Tx,
  deps: Deps,
  who: Principal,
  vmId: string,
  input: CreateBackup,
  dryRun = false,
): Promise<(ActionStarted & { backup: Backup }) | DryRunResult<Quote>> =>
  startAction(tx, deps, who, vmId, {
    verb: 'backup',
    label: BACKUP_CREATE,
    act: async (vm, start) => {
      const limit = await quotaLimit(tx, vm.account_id, 'backups_per_vm')
      const count = await sql.countManual(tx, vmId)
      if (count >= limit)
        throw apiError(
          'quota_exceeded',
          `Quota exceeded: this VM has ${count} of ${limit} manual backups. Delete one, or ask support for more`,
        )
      const failures = await sql.countFailures(tx, vmId, new Date(deps.clock.now().getTime() - DAY_MS))
      const { row, terms } = await startBackup(tx, deps, vm, { name: input.name, type: 'MANUAL', parent: null, failures }, start)
      if (dryRun) return quoteCopy(tx, deps, vm, terms)
      return { backup: toBackup(row), actionId: row.run_id }
    },
  })

interface NewBackup extends Pick<sql.BackupRow, 'name' | 'type'> {
  /** The backup that this one may be incremental to. */
  parent: sql.BackupRow | null
  /** Consecutive failed attempts before this one. */
  failures: number
}

/** Requires a locked, idle VM. The row and its workflow commit together, so a crash never leaves a backup without a run. */
export async function startBackup(
  tx: Tx,
  deps: Deps,
  vm: VmDetails,
  { name, type, parent, failures }: NewBackup,
  start: StartRun = startRunOf(tx, deps, vm, BACKUP_CREATE),
): Promise<{ row: sql.BackupRow; terms: CopyTerms }> {
  const { id: vmId, account_id, os_template_id } = vm
  const vmHostId = vm.host_id!
  const { hostId, parentId } = await chooseBackupHost(tx, { hostId: vmHostId, gib: vm.disk_gib }, parent, failures)
  const terms = await reserveCopy(tx, deps, vm, { hostIds: [...new Set([hostId, vmHostId])], isPriced: type === 'MANUAL' })
  const row = await sql.insertBackup(tx, {
    name,
    type,
    parent_id: parentId,
    host_id: hostId,
    staging_host_id: hostId === vmHostId ? null : vmHostId,
    counted_gib: terms.countedGib,
    id: newId(),
    vm_id: vmId,
    account_id,
    os_template_id,
    run_id: newId(),
    created_at: deps.clock.now(),
  })
  const input = { vmId, backupId: row.id, parentId, daily: type === 'DAILY', hostId, priceCents: terms.priceCents.toString() }
  await start(createBackupWorkflow, input, row.run_id)
  return { row, terms }
}

export async function listBackups(db: Queries, accountId: string, vmId: string, page: PageRequest): Promise<Paged<Backup>> {
  await requireVm(db, accountId, vmId)
  const total = await sql.countBackups(db, vmId)
  const { items } = await pageOf(page, total, (range) => sql.listBackups(db, vmId, range))
  return { total, items: items.map(toBackup) }
}

export async function getBackup(db: Queries, accountId: string, vmId: string, id: string): Promise<Backup> {
  await requireVm(db, accountId, vmId)
  return toBackup(await requireBackup(db, vmId, id))
}

async function requireBackup(db: Queries, vmId: string, id: string): Promise<sql.BackupRow> {
  const row = await sql.findBackup(db, vmId, id)
  if (!row) throw notFound('Backup')
  return row
}

export const restoreBackup = (tx: Tx, deps: Deps, who: Principal, vmId: string, id: string): Promise<ActionStarted> =>
  startAction(tx, deps, who, vmId, {
    verb: 'restore',
    label: 'BACKUP_RESTORE',
    find: () => requireBackup(tx, vmId, id),
    act: async (vm, start, backup) => {
      if (backup.status !== 'AVAILABLE') throw apiError('invalid_state', `Backup must be AVAILABLE to restore; it is ${backup.status}`)
      const isMoved = backup.host_id !== vm.host_id && (await isHostLost(tx, vm.host_id!, deps.clock.now()))
      const request = { runId: newId(), copyId: id, templateId: backup.os_template_id, isMoved }
      await sql.markRestoring(tx, id, request.runId)
      return startRestore(tx, deps, vm, restoreFromBackup, request, start)
    },
  })

export async function releaseBackups(tx: Tx, ids: string[]): Promise<CountedCopy[]> {
  const copies = await sql.uncountBackups(tx, ids)
  await releaseCopies(tx, copies)
  return copies
}

/** Called when the VM row is deleted: detaches its backups on other hosts, which are then purged on their own. */
export async function removeOrphans(tx: Tx, { id, account_id, host_id }: Pick<VmDetails, 'id' | 'account_id' | 'host_id'>): Promise<void> {
  await releaseCopies(tx, await sql.uncountBeside(tx, id, host_id))
  await releaseCopyQuota(tx, account_id, await sql.countedOfVm(tx, id))
  await sql.detachFromVm(tx, id, host_id)
  await triggerReconciler(tx, REMOVE)
}

/** Never refused as busy. A backup in progress is cancelled; one that is being restored is purged after the restore has ended. */
export async function deleteBackup(tx: Tx, deps: Deps, who: Principal, vmId: string, id: string): Promise<{ message: string }> {
  await lockOwnVm(tx, who, vmId) // the lock prevents new dependents
  const { name, status, run_id } = await requireBackup(tx, vmId, id)
  if (status === 'PENDING' || status === 'RUNNING')
    await deps.workflows.cancel(tx, run_id, 'The backup was deleted while it was being made')
  if (status !== 'DELETING') await sql.markDeleting(tx, id, 'Deleted by its owner')
  await triggerReconciler(tx, REMOVE)
  return { message: `Backup ${name} is being deleted` }
}
