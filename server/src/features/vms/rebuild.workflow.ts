import { forgetKeyUse, noteKeyUse } from '../ssh-keys/service.ts'
import { recordVmEvent } from './events.ts'
import { newDiskWorkflow, settleOnNewDisk, settleOnOldDisk, type NewDiskInput } from './new-disk.ts'

interface RebuildInput extends NewDiskInput {
  keysBefore: string[]
}

export const rebuildVm = newDiskWorkflow<RebuildInput>('vm.rebuild', { source: () => ({ from: 'template' }) })
  .onSuccess(async (tx, { input, results, runId, now }) => {
    await settleOnNewDisk(tx, now, input, results.ready)
    await recordVmEvent(tx, now, input.vmId, 'vm.rebuilt', { actionId: runId })
    await recordVmEvent(tx, now, input.vmId, 'vm.started', { actionId: runId })
  })
  .onFailure(async (tx, { input, error, runId, now, stranded }) => {
    const reason = `The rebuild failed and the old disk was kept: ${error?.sentence ?? 'it was cancelled'}`
    await settleOnOldDisk(tx, now, input, { reason, stranded })
    await forgetKeyUse(tx, input.vmId)
    await noteKeyUse(tx, input.vmId, input.keysBefore)
    await recordVmEvent(tx, now, input.vmId, 'vm.rebuild_failed', { actionId: runId, reason })
  })
