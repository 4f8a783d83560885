// Puts a VM back to a copy of its disk. Snapshots and backups differ only in where the copy lies and in the row that tells of it.
import type { DiskSource } from '../../hypervisor/driver.ts'
import type { Tx } from '../../kernel/db.ts'
import type { Workflow } from '../../workflow/define.ts'
import type { Deps } from '../deps.ts'
import { recordVmEvent } from './events.ts'
import { newDiskWorkflow, settleOnNewDisk, settleOnOldDisk, type NewDiskInput } from './new-disk.ts'
import * as sql from './sql.ts'

interface RestoreInput extends NewDiskInput {
  copyId: string
}

export type RestoreWorkflow = Workflow<Deps, RestoreInput>

export interface CopyKind {
  thing: 'snapshot' | 'backup'
  source: (copyId: string) => DiskSource
  /** Ends the restoring of the copy and answers how an event shows it. */
  release: (tx: Tx, copyId: string) => Promise<object>
}

export const restoreWorkflow = ({ thing, source, release }: CopyKind): RestoreWorkflow =>
  newDiskWorkflow<RestoreInput>(`${thing}.restore`, ({ copyId }) => source(copyId))
    .onSuccess(async (tx, { input, results, runId, now }) => {
      await settleOnNewDisk(tx, now, input, results.ready)
      const copy = await release(tx, input.copyId)
      await recordVmEvent(tx, now, input.vmId, `${thing}.restored`, { actionId: runId }, { [thing]: copy })
      await recordVmEvent(tx, now, input.vmId, 'vm.started', { actionId: runId })
    })
    .onFailure(async (tx, { input, error, runId, now }) => {
      const reason = `The restore failed and the old disk was kept: ${error?.sentence ?? 'it was cancelled'}`
      await settleOnOldDisk(tx, now, input, reason)
      const copy = await release(tx, input.copyId)
      await recordVmEvent(tx, now, input.vmId, 'vm.restore_failed', { actionId: runId, reason }, { [thing]: copy })
    })

export interface RestoreOrder {
  label: string
  runId: string
  copyId: string
  templateId: string
}

/** For a VM that is locked and idle. */
export async function startRestore(
  tx: Tx,
  deps: Deps,
  vm: sql.VmDetails,
  flow: RestoreWorkflow,
  order: RestoreOrder,
): Promise<{ actionId: string }> {
  const { label, runId, copyId, templateId } = order
  const generation = await sql.nextGeneration(tx, vm.id)
  await sql.setStatus(tx, deps.clock.now(), vm.id, { status: 'REBUILDING' })
  const input = {
    vmId: vm.id,
    copyId,
    templateId,
    statusBefore: vm.status,
    generationBefore: vm.generation,
    generation,
    passwordHash: null,
  }
  return { actionId: await deps.workflows.start(tx, flow, input, { label, runId, ownerId: vm.account_id, subjectId: vm.id }) }
}
