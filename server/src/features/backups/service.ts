import type { Principal } from '../../http/api/principal.ts'
import { GIB } from '../../hypervisor/driver.ts'
import type { DryRunResult } from '../../http/api/api.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound, apiError, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { quotaLimit } from '../accounts/service.ts'
import { spenderOf } from '../budgets/service.ts'
import type { ActionStarted } from '../actions/schema.ts'
import { ensureRepository, findTargetOfRegion, scheduleSweepsOfVm } from '../backup-targets/service.ts'
import type { Deps, VmSource } from '../deps.ts'
import type { Labels } from '../labels/service.ts'
import type { CopyNeed } from '../hosts/capacity.ts'
import { getHost, isHostLost } from '../hosts/service.ts'
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
  type RestoreRequest,
  type StartRun,
  type VmDetails,
} from '../vms/service.ts'
import type { Quote } from '../wallet/service.ts'
import { createBackupWorkflow } from './create.workflow.ts'
import { triggerRemoval } from './reconciler-names.ts'
import { chooseBackupHost } from './backup-host.ts'
import { forget } from './purge.reconciler.ts'
import { provisionFromBackup } from './provision.workflow.ts'
import { restoreFromBackup } from './restore.workflow.ts'
import { findScreenshot } from './proofs.ts'
import type { Backup, BackupScreenshot, CreateBackup, UpdateBackup } from './schema.ts'
import * as sql from './sql.ts'
import { toBackup, toScreenshot } from './view.ts'

export { openBackupDisk } from './transfer.ts'
export { CREATE_IMAGE, newestOutside, type BackupRow } from './sql.ts'
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
      const { row, terms } = await startBackup(
        tx,
        deps,
        vm,
        { name: input.name, labels: input.labels ?? {}, type: 'MANUAL', parent: null, failures },
        start,
      )
      if (dryRun) return quoteCopy(tx, deps, vm, terms)
      return { backup: toBackup(row), actionId: row.run_id }
    },
  })

interface NewBackup extends Pick<sql.BackupRow, 'name' | 'type'> {
  labels?: Labels
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
  { name, labels = {}, type, parent, failures }: NewBackup,
  start: StartRun = startRunOf(tx, deps, vm, BACKUP_CREATE),
): Promise<{ row: sql.BackupRow; terms: CopyTerms }> {
  const { id: vmId, account_id, os_template_id, disk_gib } = vm
  const vmHostId = vm.host_id!
  const { hostId, targetId, parentId } = await choosePlace(tx, deps, vm, parent, failures)
  // A backup of a replicated disk is made in its storage backend, where it takes what changes meanwhile.
  const stagingHostId = vm.storage_id === null && hostId !== vmHostId ? vmHostId : null
  const hostIds = [hostId, stagingHostId].filter((id) => id !== null)
  const terms = await reserveCopy(tx, deps, vm, { hostIds, isPriced: type === 'MANUAL' })
  const row = await sql.insertBackup(tx, {
    name,
    labels,
    type,
    parent_id: targetId === null ? parentId : null,
    host_id: hostId,
    target_id: targetId,
    staging_host_id: stagingHostId,
    counted_gib: terms.countedGib,
    id: newId(),
    vm_id: vmId,
    account_id,
    os_template_id,
    disk_gib,
    run_id: newId(),
    created_at: deps.clock.now(),
  })
  const input = {
    vmId,
    backupId: row.id,
    parentId,
    daily: type === 'DAILY',
    hostId,
    targetId,
    priceCents: terms.priceCents.toString(),
    ...spenderOf(tx, account_id),
  }
  await start(createBackupWorkflow, input, row.run_id)
  return { row, terms }
}

/** The target of the region, or a host where it has none. Of `parent` only what changed since is sent, if it is in the same place. */
async function choosePlace(tx: Tx, deps: Deps, vm: VmDetails, parent: sql.BackupRow | null, failures: number): Promise<Place> {
  const target = await findTargetOfRegion(tx, vm.region_id)
  if (!target) return { ...(await chooseBackupHost(tx, { hostId: vm.host_id!, gib: vm.disk_gib }, parent, failures)), targetId: null }
  await ensureRepository(tx, deps.clock.now(), target.id, vm)
  return { hostId: null, targetId: target.id, parentId: parent?.target_id === target.id && failures === 0 ? parent.id : null }
}

interface Place {
  hostId: string | null
  targetId: string | null
  parentId: string | null
}

export async function listBackups(
  db: Queries,
  accountId: string,
  vmId: string,
  labelSelector: string | undefined,
  page: PageRequest,
): Promise<Paged<Backup>> {
  await requireVm(db, accountId, vmId)
  return pageOf(
    page,
    () => sql.countBackups(db, vmId, labelSelector),
    async (range) => (await sql.listBackups(db, vmId, labelSelector, range)).map(toBackup),
  )
}

export async function updateBackup(tx: Tx, accountId: string, vmId: string, id: string, { name, labels }: UpdateBackup): Promise<Backup> {
  if (name === undefined && labels === undefined) throw invalid('give at least one of name, labels')
  await requireVm(tx, accountId, vmId)
  const row = await sql.describeBackup(tx, vmId, id, name ?? null, labels ?? null)
  if (!row) throw notFound('Backup')
  return toBackup(row)
}

export async function getBackup(db: Queries, accountId: string, vmId: string, id: string): Promise<Backup> {
  await requireVm(db, accountId, vmId)
  return toBackup(await requireBackup(db, vmId, id))
}

export async function getBackupScreenshot(db: Queries, accountId: string, vmId: string, id: string): Promise<BackupScreenshot> {
  await requireVm(db, accountId, vmId)
  const found = await findScreenshot(db, (await requireBackup(db, vmId, id)).id)
  if (!found) throw notFound('Screenshot')
  return toScreenshot(found)
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
      const isMoved = vm.storage_id === null && backup.host_id !== vm.host_id && (await isHostLost(tx, vm.host_id!, deps.clock.now()))
      const request = { ...(await restoreRequest(tx, vm, backup)), isMoved }
      await sql.markRestoring(tx, id, request.runId)
      return startRestore(tx, deps, vm, restoreFromBackup, request, start)
    },
  })

async function restoreRequest(tx: Tx, vm: VmDetails, backup: sql.BackupRow) {
  // In a storage backend the snapshot that the next backup builds on grows with the old disk until that is gone.
  const disks = vm.storage_id !== null && (await sql.hasDaily(tx, vm.id)) ? 2 : 1
  const need = { copy: await fetchedCopyOf(tx, vm, backup), diskGiB: disks * vm.disk_gib }
  return { runId: newId(), copyId: backup.id, templateId: backup.os_template_id, ...need }
}

/** What a restore brings to the host of the VM. In a storage backend that becomes the disk. */
export async function fetchedCopyOf(db: Queries, vm: VmDetails, backup: sql.BackupRow): Promise<CopyNeed> {
  if (vm.storage_id !== null) return { gib: 0, storedOn: null }
  if (backup.target_id !== null) return { gib: diskOfBackup(backup), storedOn: null }
  const sizes = (await sql.chainOf(db, backup.id)).map(({ size_bytes }) => Math.ceil(Number(size_bytes) / GIB))
  return { gib: sizes.reduce((sum, gib) => sum + gib, 0), storedOn: backup.host_id }
}

/** Of a locked, idle VM whose host was declared destroyed. */
export async function recoverFromBackup(
  tx: Tx,
  deps: Deps,
  vm: VmDetails,
  backup: sql.BackupRow,
  recovery: NonNullable<RestoreRequest['recovery']>,
): Promise<ActionStarted> {
  const request = { ...(await restoreRequest(tx, vm, backup)), isMoved: true, recovery }
  await sql.markRestoring(tx, backup.id, request.runId)
  return startRestore(tx, deps, vm, restoreFromBackup, request, startRunOf(tx, deps, vm, 'BACKUP_RESTORE'))
}

/** Those that lay on a destroyed host, except what a run still works on. Returns how many they were. */
export async function removeLostBackups(deps: Deps, hostId: string, reason: string): Promise<number> {
  const lost = await sql.idleOn(deps.db, hostId)
  for (const backup of lost) {
    await sql.markDeleting(deps.db, backup.id, reason)
    await forget(deps, backup)
  }
  return lost.length
}

const MAKES_VMS_FROM = 'backups:restore'

/** Locks its VM before it, as those do who delete either. It is not purged before the transaction ends. */
export async function requireBackupAsSource(tx: Tx, who: Principal, id: string): Promise<sql.BackupRow> {
  // Whoever makes a VM from it, with keys of their own, reads it.
  if (!who.scopes.has(MAKES_VMS_FROM)) throw apiError('missing_scope', `This token lacks the required scope: ${MAKES_VMS_FROM}`)
  const found = await sql.findOwnBackup(tx, who.accountId, id)
  if (!found) throw notFound('Backup')
  await lockOwnVm(tx, who, found.vm_id)
  const backup = await sql.lockBackup(tx, id)
  if (!backup) throw notFound('Backup')
  const { name, status, host_id } = backup
  if (status !== 'AVAILABLE' && status !== 'RESTORING')
    throw apiError('invalid_state', `Backup must be AVAILABLE to make something from it; it is ${status}`)
  if (host_id !== null && (await getHost(tx, host_id)).unreachable_since !== null)
    throw apiError('unavailable', `The host that stores backup ${name} is unreachable: try again later, or choose another backup`)
  return backup
}

export const diskOfBackup = ({ disk_gib, vm_disk_gib }: sql.BackupRow): number => disk_gib ?? vm_disk_gib!

export async function openBackupAsSource(tx: Tx, deps: Deps, who: Principal, id: string): Promise<VmSource> {
  const backup = await requireBackupAsSource(tx, who, id)
  return {
    templateId: backup.os_template_id,
    diskGiB: diskOfBackup(backup),
    start: (run, options) => deps.workflows.start(tx, provisionFromBackup, { ...run, backupId: id }, options),
  }
}

export async function releaseBackups(tx: Tx, ids: string[]): Promise<CountedCopy[]> {
  const copies = await sql.uncountBackups(tx, ids)
  await releaseCopies(tx, copies)
  return copies
}

/** Called when the VM row is deleted: detaches its backups elsewhere, which are then purged on their own. */
export async function removeOrphans(
  tx: Tx,
  { id, account_id, host_id }: Pick<VmDetails, 'id' | 'account_id' | 'host_id'>,
  { clock }: Pick<Deps, 'clock'>,
): Promise<void> {
  await releaseCopies(tx, await sql.uncountBeside(tx, id, host_id))
  await releaseCopyQuota(tx, account_id, await sql.countedOfVm(tx, id))
  await sql.detachFromVm(tx, id, host_id)
  await scheduleSweepsOfVm(tx, id, clock.now())
  await triggerRemoval(tx)
}

/** Never refused as busy. A backup in progress is cancelled; one that is being restored is purged after the restore has ended. */
export async function deleteBackup(tx: Tx, deps: Deps, who: Principal, vmId: string, id: string): Promise<{ message: string }> {
  await lockOwnVm(tx, who, vmId) // the lock prevents new dependents
  const { name, status, run_id } = await requireBackup(tx, vmId, id)
  if (status === 'PENDING' || status === 'RUNNING')
    await deps.workflows.cancel(tx, run_id, 'The backup was deleted while it was being made')
  if (status !== 'DELETING') await sql.markDeleting(tx, id, 'Deleted by its owner')
  await triggerRemoval(tx)
  return { message: `Backup ${name} is being deleted` }
}
