// Creates a backup on the VM's host and transfers it to the host that stores it. A customer action preempts a daily backup: the run is
// cancelled, compensation removes its data, and the schedule retries later.
import type { Driver } from '../../hypervisor/driver.ts'
import type { Tx } from '../../kernel/database/db.ts'
import type { SaveContext, StepContext } from '../../workflow/workflow-builder.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { findRepository, scheduleSweep } from '../backup-targets/service.ts'
import type { Spender } from '../budgets/service.ts'
import { workflow, type Deps } from '../deps.ts'
import {
  backupPolicyOf,
  chargeCopy,
  driverForVm,
  getVmRow,
  lockVmById,
  recordVmEvent,
  refundCopies,
  releaseCopies,
  releaseCopyRoom,
  vmById,
} from '../vms/service.ts'
import { chooseKept } from './retention.ts'
import { discardUpload, uploadBackup } from './target.ts'
import { transferBackup, type TransferResult } from './transfer.ts'
import { DAILY, triggerRemoval } from './reconciler-names.ts'
import { scheduleFirst } from './proofs.ts'
import { planAfterCancel, scheduleRetry, scheduleNext } from './schedule.ts'
import * as sql from './sql.ts'
import { toBackup } from './view.ts'

export interface BackupInput extends Spender {
  vmId: string
  backupId: string
  parentId: string | null
  daily: boolean
  /** The host that will store the backup; null for one in a target. */
  hostId: string | null
  /** Missing in the journal of a run that an older release started. */
  targetId?: string | null
  /** Missing in the journal of a run that an older release started. */
  priceCents?: string
}

type Context = Pick<StepContext<Deps, BackupInput, unknown>, 'deps' | 'input' | 'signal'>

/** The add-on pays for so many daily backups. */
const INCLUDED = 7

export const createBackupWorkflow = workflow<BackupInput>('backup.create', {
  deadline: '6h',
  queue: 'bulk',
  locks: (tx, { vmId }) => lockVmById(tx, vmId),
})
  .step('begin', { save: (tx, { input, now }) => sql.markRunning(tx, now, input.backupId) })
  .step('copy', {
    timeout: '2h',
    run: async (context) => {
      const { vmId, backupId, parentId } = context.input
      const { driver, isElsewhere } = await sourceOf(context)
      return driver.ensureBackup(vmId, { backupId, parentId, parentIsRemote: isElsewhere }, context.signal)
    },
    undo: async ({ deps, input: { vmId, backupId }, signal }) => {
      // The VM of a cancelled run may already be deleted, together with all its volumes.
      const vm = await vmById(deps.db, vmId)
      if (vm?.host_id) await (await driverForVm(deps, vm)).ensureNoBackup(vmId, backupId, signal)
    },
  })
  .step('transfer', {
    timeout: '2h',
    run: async (context): Promise<TransferResult | null> => {
      const { targetId } = context.input
      if (targetId) return uploadBackup(context, targetId, context.results.copy.parentId)
      const { driver: from, isElsewhere } = await sourceOf(context)
      const to = await context.deps.hypervisors.get(context.input.hostId!)
      const order = { backupId: context.input.backupId, parentId: context.results.copy.parentId }
      return isElsewhere ? transferBackup(from, to, context.input.vmId, order, context.signal) : null
    },
    undo: async (context) => {
      const { vmId, backupId, hostId, targetId } = context.input
      if (targetId) return discardUpload(context, targetId)
      await (await context.deps.hypervisors.get(hostId!)).ensureNoBackup(vmId, backupId, context.signal)
    },
  })
  .step('charge', { save: chargeBackup })
  .step('delete source copy', { run: deleteSourceCopy, optional: true })
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    const place = input.targetId ? { parentId: null, sizeBytes: results.transfer!.sizeBytes } : {}
    await sql.markAvailable(tx, now, input.backupId, {
      ...results.copy,
      ...place,
      checksum: results.transfer?.checksum ?? null,
    })
    await scheduleFirst(tx, now, input.vmId)
    const { account_id, quotaGib, rooms } = await sql.recount(tx, input.backupId)
    await releaseCopyRoom(tx, account_id, quotaGib, rooms)
    if (input.daily) await settleDaily(tx, now, input.vmId)
    const backup = toBackup((await sql.findById(tx, input.backupId))!)
    await recordVmEvent(tx, deps, input.vmId, 'backup.created', { actionId: runId }, { backup })
  })
  .onFailure(async (tx, { deps, input, error, cancelled, cleanupFailed, runId, now }) => {
    if (cleanupFailed && input.targetId) await scheduleSweep(tx, input.targetId, input.vmId, now)
    if (cancelled) return rollBackBackup(tx, now, input, cleanupFailed)
    const reason = error?.userMessage ?? ''
    const backup = await sql.markFailed(tx, input.backupId, reason, cleanupFailed)
    await releaseCopies(tx, await sql.uncountBackups(tx, [input.backupId]))
    if (input.daily) await scheduleRetry(tx, now, input.vmId)
    await recordVmEvent(tx, deps, input.vmId, 'backup.failed', { actionId: runId, reason }, { backup: toBackup(backup) })
  })

/** `isElsewhere`: the backup is stored in another place than the one that it is made in, which is the storage backend of a replicated disk. */
async function sourceOf({ deps, input }: Context): Promise<{ driver: Driver; isElsewhere: boolean }> {
  const vm = await getVmRow(deps.db, input.vmId)
  const driver = await driverForVm(deps, vm)
  return { driver, isElsewhere: vm.storage_id !== null || driver.hostId !== input.hostId }
}

/** The only steps after it are optional: from here on the backup can only be deleted, and its unused days refunded. */
async function chargeBackup(tx: Tx, { deps, input, now }: SaveContext<Deps, BackupInput, unknown>): Promise<void> {
  const priceCents = BigInt(input.priceCents ?? 0)
  if (priceCents === 0n) return
  await sql.setPrice(tx, input.backupId, priceCents)
  const { name } = (await sql.findById(tx, input.backupId))!
  await chargeCopy(tx, deps, now, { vmId: input.vmId, priceCents, what: `Backup ${name}`, spender: input })
}

/** The backup is now stored elsewhere. If this deletion fails, the orphan volume reconciler removes the source copy. Only daily backups are parents. */
async function deleteSourceCopy(context: Context): Promise<void> {
  const { vmId, backupId, daily } = context.input
  const { driver, isElsewhere } = await sourceOf(context)
  if (isElsewhere) await driver.ensureBackupOffloaded(vmId, { backupId, keepCheckpoint: daily }, context.signal)
}

async function settleDaily(tx: Tx, now: Date, vmId: string): Promise<void> {
  await scheduleNext(tx, now, vmId)
  await applyRetention(tx, vmId)
  await triggerRemoval(tx)
  await triggerReconciler(tx, DAILY)
}

async function applyRetention(tx: Tx, vmId: string): Promise<void> {
  const backups = await sql.listDaily(tx, vmId)
  const kept = chooseKept(backups, await backupPolicyOf(tx, vmId))
  const [wanted, others] = [backups.filter(({ id }) => kept.has(id)), backups.filter(({ id }) => !kept.has(id))]
  const toKept = ({ id }: { id: string }, rank: number): sql.Kept => ({ id, expiresAt: kept.get(id)!, isExtra: rank >= INCLUDED })
  await sql.setKept(tx, wanted.map(toKept))
  const expired = others.map(({ id }) => id)
  await sql.expire(tx, expired)
}

/** Runs when another action preempted the backup, or when the backup or its VM was deleted. */
async function rollBackBackup(tx: Tx, now: Date, input: BackupInput, cleanupFailed: boolean): Promise<void> {
  const { vmId, backupId, daily } = input
  const backup = await sql.findById(tx, backupId)
  if (!backup) return
  if (daily) await (backup.status === 'DELETING' ? scheduleNext : planAfterCancel)(tx, now, vmId)
  const { targetId } = input
  const mayBeStored = targetId ? (await findRepository(tx, targetId, vmId)) !== undefined : false // and locked: it counts until it is removed
  if (cleanupFailed || mayBeStored) {
    await sql.markDeleting(tx, backupId, 'Cancelled')
    await triggerRemoval(tx)
  } else {
    const copies = await sql.uncountBackups(tx, [backupId])
    await releaseCopies(tx, copies)
    await sql.deleteBackup(tx, backupId)
    await refundCopies(tx, now, copies)
  }
}
