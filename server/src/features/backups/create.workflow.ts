// Creates a backup on the VM's host and transfers it to the host that stores it. A customer action preempts a daily backup: the run is
// cancelled, compensation removes its data, and the schedule retries later.
import type { Driver } from '../../hypervisor/driver.ts'
import { addDuration } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import type { SaveContext, StepContext } from '../../workflow/workflow-builder.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { workflow, type Deps } from '../deps.ts'
import {
  chargeCopy,
  driverForVm,
  driverForVmId,
  lockVmById,
  recordVmEvent,
  refundCopies,
  releaseCopies,
  releaseCopyRoom,
  vmById,
} from '../vms/service.ts'
import { transferBackup, type TransferResult } from './transfer.ts'
import { DAILY, REMOVE } from './reconciler-names.ts'
import { planAfterCancel, scheduleRetry, scheduleNext } from './schedule.ts'
import * as sql from './sql.ts'
import { toBackup } from './view.ts'

export interface BackupInput {
  vmId: string
  backupId: string
  parentId: string | null
  daily: boolean
  /** The host that will store the backup. */
  hostId: string
  /** Missing in the journal of a run that an older release started. */
  priceCents?: string
}

type Context = Pick<StepContext<Deps, BackupInput, unknown>, 'deps' | 'input' | 'signal'>

const KEEP_DAILY = 7

export const createBackupWorkflow = workflow<BackupInput>('backup.create', {
  deadline: '6h',
  locks: (tx, { vmId }) => lockVmById(tx, vmId),
})
  .step('begin', { save: (tx, { input, now }) => sql.markRunning(tx, now, input.backupId) })
  .step('copy', {
    timeout: '2h',
    run: async ({ deps, input: { vmId, backupId, parentId, hostId }, signal }) => {
      const driver = await driverForVmId(deps, vmId)
      return driver.ensureBackup(vmId, { backupId, parentId, parentIsRemote: hostId !== driver.hostId }, signal)
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
      const { from, to } = await endsOf(context)
      const order = { backupId: context.input.backupId, parentId: context.results.copy.parentId }
      return from.hostId === to.hostId ? null : transferBackup(from, to, context.input.vmId, order, context.signal)
    },
    undo: async ({ deps, input: { vmId, backupId, hostId }, signal }) =>
      (await deps.hypervisors.get(hostId)).ensureNoBackup(vmId, backupId, signal),
  })
  .step('charge', { save: chargeBackup })
  .step('delete source copy', { run: deleteSourceCopy, optional: true })
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    const backup = await sql.markAvailable(tx, now, input.backupId, {
      ...results.copy,
      checksum: results.transfer?.checksum ?? null,
      expiresAt: input.daily ? addDuration(now, `${KEEP_DAILY}d`) : null,
    })
    const { account_id, quotaGib, rooms } = await sql.recount(tx, input.backupId)
    await releaseCopyRoom(tx, account_id, quotaGib, rooms)
    if (input.daily) await settleDaily(tx, now, input.vmId)
    await recordVmEvent(tx, deps, input.vmId, 'backup.created', { actionId: runId }, { backup: toBackup(backup) })
  })
  .onFailure(async (tx, { deps, input, error, cancelled, cleanupFailed, runId, now }) => {
    if (cancelled) return rollBackBackup(tx, now, input, cleanupFailed)
    const reason = error?.userMessage ?? ''
    const backup = await sql.markFailed(tx, input.backupId, reason, cleanupFailed)
    await releaseCopies(tx, await sql.uncountBackups(tx, [input.backupId]))
    if (input.daily) await scheduleRetry(tx, now, input.vmId)
    await recordVmEvent(tx, deps, input.vmId, 'backup.failed', { actionId: runId, reason }, { backup: toBackup(backup) })
  })

const endsOf = async ({ deps, input }: Context): Promise<{ from: Driver; to: Driver }> => ({
  from: await driverForVmId(deps, input.vmId),
  to: await deps.hypervisors.get(input.hostId),
})

/** The only steps after it are optional: from here on the backup can only be deleted, and its unused days refunded. */
async function chargeBackup(tx: Tx, { deps, input, now }: SaveContext<Deps, BackupInput, unknown>): Promise<void> {
  const priceCents = BigInt(input.priceCents ?? 0)
  if (priceCents === 0n) return
  await sql.setPrice(tx, input.backupId, priceCents)
  const { name } = (await sql.findById(tx, input.backupId))!
  await chargeCopy(tx, deps, now, { vmId: input.vmId, priceCents, what: `Backup ${name}` })
}

/** The backup is now stored on another host. If this deletion fails, the orphan volume reconciler removes the source copy. */
async function deleteSourceCopy(context: Context): Promise<void> {
  const { from, to } = await endsOf(context)
  if (from.hostId !== to.hostId) await from.ensureBackupOffloaded(context.input.vmId, context.input.backupId, context.signal)
}

async function settleDaily(tx: Tx, now: Date, vmId: string): Promise<void> {
  await scheduleNext(tx, now, vmId)
  await sql.expireOlder(tx, vmId, KEEP_DAILY)
  await triggerReconciler(tx, REMOVE)
  await triggerReconciler(tx, DAILY)
}

/** Runs when another action preempted the backup, or when the backup or its VM was deleted. */
async function rollBackBackup(tx: Tx, now: Date, input: BackupInput, cleanupFailed: boolean): Promise<void> {
  const { vmId, backupId, daily } = input
  const backup = await sql.findById(tx, backupId)
  if (!backup) return
  if (daily) await (backup.status === 'DELETING' ? scheduleNext : planAfterCancel)(tx, now, vmId)
  if (cleanupFailed) await sql.markDeleting(tx, backupId, 'Cancelled')
  else {
    const copies = await sql.uncountBackups(tx, [backupId])
    await releaseCopies(tx, copies)
    await sql.deleteBackup(tx, backupId)
    await refundCopies(tx, now, copies)
  }
}
