// Restores a VM from a copy of its disk. Snapshots and backups differ only in where the copy is stored and which row describes it.
import type { DiskSource } from '../../../hypervisor/driver.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import type { WorkflowBuilder, StepContext, Workflow } from '../../../workflow/workflow-builder.ts'
import type { ActionStarted } from '../../actions/schema.ts'
import { workflow, type Deps } from '../../deps.ts'
import { recordVmEvent, type EventSubject } from '../model/events.ts'
import { completeEvacuation, evacuateVm, rollBackEvacuation } from '../recovery/evacuate.ts'
import { refundCopies, type CountedCopy } from '../billing/copies.ts'
import { releaseRestoreRoom, reserveRestoreRoom } from '../model/restore-room.ts'
import { copyGiBOn, type CopyNeed } from '../../hosts/capacity.ts'
import { replaceDiskWorkflow, finishOnNewDisk, finishOnOldDisk, type NewDiskInput } from './replace-disk.ts'
import type { StartRun } from '../model/guards.ts'
import { getVmRow } from '../model/machine-spec.ts'
import type { VmStatus } from '../schema.ts'
import * as sql from '../model/sql.ts'

export interface RestoreInput extends NewDiskInput {
  copyId: string
  /** Set when the VM's host was declared destroyed: from what it is restored, and what is lost. */
  recovery?: string
}

export type RestoreWorkflow = Workflow<Deps, RestoreInput>

type RestoredCopy = EventSubject<'snapshot.restored'> | EventSubject<'backup.restored'>

export interface RestoreSource {
  name: 'snapshot.restore' | 'backup.restore'
  source: (copyId: string) => DiskSource
  /** Makes the copy AVAILABLE again and returns its representation for the event. */
  release: (tx: Tx, copyId: string) => Promise<RestoredCopy>
  begun?: (name: string) => WorkflowBuilder<Deps, RestoreInput, {}>
  afterDisk?: (context: StepContext<Deps, RestoreInput, unknown>) => Promise<void>
  /** Runs when the VM was evacuated to another host; returns the copies lost with the old one. Locks quotas, so it precedes the capacity. */
  onMoved?: (tx: Tx, vmId: string) => Promise<CountedCopy[]>
}

export const restoreWorkflow = ({ name, source, release, begun, afterDisk, onMoved }: RestoreSource): RestoreWorkflow =>
  replaceDiskWorkflow<RestoreInput>(name, {
    source: ({ copyId }) => source(copyId),
    begun: begun?.(name) ?? workflow<RestoreInput>(name, { deadline: '3h', queue: 'copies' }),
    ...(afterDisk && { afterDisk }),
  })
    .onSuccess(async (tx, { deps, input, results, runId, now }) => {
      await finishOnNewDisk(tx, now, input, results.ready)
      const lost = input.placeBefore ? await onMoved?.(tx, input.vmId) : undefined
      if (input.placeBefore) await completeEvacuation(tx, now, input.vmId, input.placeBefore)
      const copy = await release(tx, input.copyId)
      await releaseRestoreRoom(tx, runId)
      if (input.recovery !== undefined) await finishRecovery(tx, deps, input, { actionId: runId, reason: input.recovery })
      if ('snapshot' in copy) await recordVmEvent(tx, deps, input.vmId, 'snapshot.restored', { actionId: runId }, copy)
      else await recordVmEvent(tx, deps, input.vmId, 'backup.restored', { actionId: runId }, copy)
      if (!input.staysOff) await recordVmEvent(tx, deps, input.vmId, 'vm.started', { actionId: runId })
      await refundCopies(tx, now, lost ?? [])
    })
    .onFailure(async (tx, { deps, input, error, runId, now, cleanupFailed }) => {
      const isBack = !input.placeBefore || (await rollBackEvacuation(tx, deps, input.vmId, input.placeBefore, cleanupFailed))
      const outcome = isBack ? ' and the old disk was kept' : ', and its old disk is gone with its host'
      const statusAfter = KEPT_STATUS.has(input.statusBefore) ? input.statusBefore : 'ERROR'
      const reason = `The restore failed${outcome}: ${error?.userMessage ?? 'it was cancelled'}`
      const end = { reason, cleanupFailed: cleanupFailed && !(input.placeBefore && isBack) }
      await finishOnOldDisk(tx, now, isBack ? input : { ...input, statusBefore: statusAfter }, end)
      const copy = await release(tx, input.copyId)
      await releaseRestoreRoom(tx, runId)
      await recordVmEvent(tx, deps, input.vmId, 'vm.restore_failed', { actionId: runId, reason }, copy)
    })

/** Neither is billed nor runs. */
const KEPT_STATUS = new Set<VmStatus>(['SUSPENDED', 'UNMANAGED'])

/** The time on the destroyed host is not charged for. */
async function finishRecovery(tx: Tx, deps: Deps, input: RestoreInput, detail: { actionId: string; reason: string }): Promise<void> {
  const now = deps.clock.now()
  const { billing_status, next_renewal_at, ip_address } = await getVmRow(tx, input.vmId)
  const isOverdue = billing_status === 'ACTIVE' && next_renewal_at < now
  if (input.statusBefore === 'UNMANAGED' || isOverdue) await sql.resumeBilling(tx, now, input.vmId)
  const moved = ip_address === input.placeBefore?.ip_address ? '' : `. Its public address is ${ip_address} now`
  await recordVmEvent(tx, deps, input.vmId, 'vm.recovered', { ...detail, reason: detail.reason + moved })
}

export interface RestoreRequest {
  runId: string
  copyId: string
  templateId: string
  /** What is fetched to the VM's host. */
  copy: CopyNeed
  /** What the new disk takes beside the old one. */
  diskGiB: number
  /** The VM's host is lost: the restore runs on another host. */
  isMoved?: boolean
  /** The VM's host was declared destroyed. */
  recovery?: { reason: string; among: ReadonlySet<string> | undefined }
}

/** `start` comes from `startAction`: the VM is locked and idle. */
export async function startRestore(
  tx: Tx,
  deps: Deps,
  vm: sql.VmDetails,
  flow: RestoreWorkflow,
  order: RestoreRequest,
  start: StartRun,
): Promise<ActionStarted> {
  const { runId, copyId, templateId, copy, diskGiB, isMoved, recovery } = order
  const placeBefore = isMoved ? await evacuateVm(tx, deps, vm, { templateId, copy: { ...copy, runId }, among: recovery?.among }) : null
  if (!isMoved) await reserveRestoreRoom(tx, runId, vm, { copyGiB: copyGiBOn(vm.host_id!, copy), diskGiB })
  const generation = await sql.nextGeneration(tx, vm.id)
  if (vm.status !== 'SUSPENDED') await sql.setStatus(tx, deps.clock.now(), vm.id, { status: 'REBUILDING' })
  const input = {
    vmId: vm.id,
    copyId,
    templateId,
    statusBefore: vm.status,
    generationBefore: vm.generation,
    generation,
    passwordHash: null,
    placeBefore,
    ...(recovery && { recovery: recovery.reason, staysOff: vm.status === 'SUSPENDED' || !vm.desired_running }),
  }
  return start(flow, input, runId)
}
