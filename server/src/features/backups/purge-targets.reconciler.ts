// Purges deleted backups in targets, and content that no backup needs any more. One process at a time for a repository: the lease ends
// after the work does.
import { isTargetError } from '../../backup-target/errors.ts'
import type { RemovalResult } from '../../backup-target/repository.ts'
import { GIB } from '../../hypervisor/driver.ts'
import { addDuration } from '../../kernel/clock.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import {
  claimRepository,
  deleteRepository,
  forgetShelvedDisks,
  openRepository,
  releaseRepository,
  setLocked,
  unwantedShelvedDisks,
  type RepositoryRow,
} from '../backup-targets/service.ts'
import { lockVmById, recountCopyQuota, vmById } from '../vms/service.ts'
import { callHost } from '../hosts/service.ts'
import { forget } from './purge.reconciler.ts'
import { REMOVE_IN_TARGETS } from './reconciler-names.ts'
import * as sql from './sql.ts'

const WORK_MS = 600_000
const LEASE = '15m'
/** After a failure, while an upload goes on, and where object lock keeps what was deleted. */
const [RETRY, NEXT_LOOK, LOCKED_RETRY] = ['5m', '1h', '1d']

export const removeInTargets = keyedReconciler(REMOVE_IN_TARGETS, '1m', {
  busy: async ({ db, clock }) => (await sql.repositoriesWithRemovals(db, clock.now())).map(({ id }) => id),
  runOnce: removeInRepository,
})

async function removeInRepository(deps: Deps, repositoryId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock, log } = deps
  const now = clock.now()
  const claimed = await claimRepository(db, repositoryId, now, addDuration(now, LEASE))
  if (!claimed) return
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(WORK_MS)])
  const backups = await sql.removableIn(db, claimed.target_id, claimed.vm_id, now)
  const retryAt = addDuration(now, RETRY)
  let sweepAt: Date | null = retryAt
  try {
    sweepAt = await remove(deps, claimed, backups, signal)
  } catch (error) {
    if (!isTargetError(error)) throw error
    if (!stopping.aborted) log.warn({ err: error, repositoryId, vmId: claimed.vm_id }, 'removing backups in target failed; retrying')
    for (const { id } of backups) await sql.postpone(db, id, retryAt)
  } finally {
    await releaseRepository(db, claimed, sweepAt)
  }
}

/** Returns when to look again; null when nothing is left to do. */
async function remove(deps: Deps, row: RepositoryRow, backups: sql.BackupRow[], signal: AbortSignal): Promise<Date | null> {
  const { db, clock } = deps
  const { target_id, vm_id } = row
  const { repository } = await openRepository(deps, target_id, vm_id, signal)
  const failed = await sql.failedIn(db, target_id, vm_id)
  const unshelved = await unwantedShelvedDisks(db, target_id, vm_id)
  const removed = [...backups.map(({ id }) => id), ...failed, ...unshelved]
  const result = await repository.remove(removed, signal)
  const { lockedIds, lockedChunks, isPostponed } = result
  for (const backup of backups) {
    if (lockedIds.includes(backup.id)) await sql.postpone(db, backup.id, addDuration(clock.now(), LOCKED_RETRY))
    else await forgetEverywhere(deps, backup, signal)
  }
  await forgetShelvedDisks(
    db,
    unshelved.filter((id) => !lockedIds.includes(id)),
  )
  await recount(deps, row, result)
  if (isPostponed) return addDuration(clock.now(), NEXT_LOOK)
  if (lockedChunks > 0 || unshelved.some((id) => lockedIds.includes(id))) return addDuration(clock.now(), LOCKED_RETRY)
  const isUnused = !(await vmById(db, vm_id)) && !(await sql.hasBackupsIn(db, target_id, vm_id))
  if (!isUnused) return null
  if (!(await repository.removeIfEmpty(signal))) return addDuration(clock.now(), LOCKED_RETRY)
  await deleteRepository(db, row.id)
  return null
}

/** What its backups hold by now, and what is kept of others: by object lock, or until an upload ends. */
async function recount({ db, clock }: Deps, { id, vm_id }: RepositoryRow, result: RemovalResult): Promise<void> {
  const { heldBytes, lockedBytes, lockedChunkBytes } = result
  const gibById = new Map([...heldBytes].map(([id, bytes]) => [id, Math.max(1, Math.ceil(bytes / GIB))]))
  await db.tx(async (tx) => {
    await lockVmById(tx, vm_id)
    const held = await sql.recountHeld(tx, vm_id, gibById)
    const locked = await setLocked(tx, clock.now(), id, lockedBytes, Math.ceil(lockedChunkBytes / GIB))
    const accountId = held?.account_id ?? locked?.account_id
    const more = (held?.gib ?? 0) + (locked?.gib ?? 0)
    if (accountId && more !== 0) await recountCopyQuota(tx, accountId, more)
  })
}

/** The VM's host keeps the dirty bitmap of a backup, and may keep the data of an incomplete one, which its orphan volumes show. */
async function forgetEverywhere(deps: Deps, backup: sql.BackupRow, signal: AbortSignal): Promise<void> {
  if (backup.vm_host_id !== null)
    await callHost(deps, backup.vm_host_id, signal, (driver, limit) => driver.ensureNoBackup(backup.vm_id, backup.id, limit))
  await forget(deps, backup)
}
