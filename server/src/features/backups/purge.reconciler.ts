// Purges the data of deleted backups. A backup that others depend on becomes a hidden tombstone until they are purged.
import { isDriverError, type DriverError } from '../../hypervisor/driver.ts'
import { addDuration } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost, isUnreachable, retryDelay } from '../hosts/service.ts'
import { lockVmById, recordVmEvent, refundCopies, releaseCopies, releaseCopyQuota } from '../vms/service.ts'
import { REMOVE } from './reconciler-names.ts'
import * as sql from './sql.ts'
import { toBackup } from './view.ts'

export const removeBackups = keyedReconciler(REMOVE, '1m', {
  busy: async ({ db, clock }) => (await sql.hostsWithRemovals(db, clock.now())).map((row) => row.host_id),
  runOnce: removeOnHost,
})

async function removeOnHost(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock } = deps
  for (let goesOn = true; goesOn && !stopping.aborted;) {
    const backup = await sql.nextRemovable(db, hostId, clock.now())
    goesOn = backup !== undefined && (await removeOne(deps, hostId, backup, stopping))
  }
  for (const backup of await sql.deletedWithChildren(db, hostId)) await hide(deps, backup)
}

/** Returns false when the host is unreachable; its other backups then wait for the next run. */
async function removeOne(deps: Deps, hostId: string, backup: sql.BackupRow, stopping: AbortSignal): Promise<boolean> {
  const { id, vm_id } = backup
  const remove = (where: string) => callHost(deps, where, stopping, (driver, signal) => driver.ensureNoBackup(vm_id, id, signal))
  const error = (await forgetAtSource(backup, remove)) ?? (await remove(hostId))
  if (!error) return forget(deps, backup)
  if (!stopping.aborted) await sql.postpone(deps.db, id, addDuration(deps.clock.now(), retryDelay(error)))
  // A volume without a row depends on this backup, until the orphan volume reconciler removes that volume.
  if (isDriverError(error, 'in_use')) await hide(deps, backup)
  return !isUnreachable(error)
}

/** The VM's host keeps the dirty bitmap of the backup, and may keep the data of an incomplete one. */
async function forgetAtSource(
  { host_id, vm_host_id, completed_at }: sql.BackupRow,
  remove: (hostId: string) => Promise<DriverError | null>,
): Promise<DriverError | null> {
  if (vm_host_id === null || vm_host_id === host_id) return null
  const error = await remove(vm_host_id)
  return completed_at === null ? error : null
}

export async function forget(deps: Deps, { id, vm_id }: sql.BackupRow): Promise<true> {
  await deps.db.tx(async (tx) => {
    const vm = await lockVmById(tx, vm_id) // lock order: the VM before its backup
    const copies = await sql.uncountBackups(tx, [id])
    await releaseCopies(tx, copies)
    const backup = await sql.deleteBackup(tx, id)
    if (vm && backup && !backup.is_tombstone) await recordDeleted(tx, deps, backup)
    await refundCopies(tx, deps.clock.now(), copies)
  })
  return true
}

async function hide(deps: Deps, { id, vm_id }: sql.BackupRow): Promise<void> {
  await deps.db.tx(async (tx) => {
    await lockVmById(tx, vm_id)
    const backup = await sql.hide(tx, id)
    if (backup) await releaseCopyQuota(tx, backup.account_id, backup.counted_gib)
    if (backup) await recordDeleted(tx, deps, backup)
  })
}

/** An incomplete backup emits no event. */
async function recordDeleted(tx: Tx, deps: Deps, backup: sql.BackupRow): Promise<void> {
  if (backup.completed_at === null) return
  await recordVmEvent(tx, deps, backup.vm_id, 'backup.deleted', { reason: backup.delete_reason ?? '' }, { backup: toBackup(backup) })
}
