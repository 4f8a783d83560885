import { forgetKeyUse, noteKeyUse } from '../ssh-keys/service.ts'
import { recordVmEvent } from './events.ts'
import { replaceDiskWorkflow, finishOnNewDisk, finishOnOldDisk, type NewDiskInput } from './new-disk.ts'

interface RebuildInput extends NewDiskInput {
  keysBefore: string[]
}

export const rebuildVm = replaceDiskWorkflow<RebuildInput>('vm.rebuild', { source: () => ({ from: 'template' }) })
  .onSuccess(async (tx, { input, results, runId, now }) => {
    await finishOnNewDisk(tx, now, input, results.ready)
    await recordVmEvent(tx, now, input.vmId, 'vm.rebuilt', { actionId: runId })
    await recordVmEvent(tx, now, input.vmId, 'vm.started', { actionId: runId })
  })
  .onFailure(async (tx, { input, error, runId, now, stranded }) => {
    const reason = `The rebuild failed and the old disk was kept: ${error?.userMessage ?? 'it was cancelled'}`
    await finishOnOldDisk(tx, now, input, { reason, stranded })
    await forgetKeyUse(tx, input.vmId)
    await noteKeyUse(tx, input.vmId, input.keysBefore)
    await recordVmEvent(tx, now, input.vmId, 'vm.rebuild_failed', { actionId: runId, reason })
  })
