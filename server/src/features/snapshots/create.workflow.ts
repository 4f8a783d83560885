import { workflow } from '../deps.ts'
import { driverForVmId, getVmRow, recordVmEvent, refundFailedCopy, releaseCopies } from '../vms/service.ts'
import * as sql from './sql.ts'
import { toSnapshot } from './view.ts'

export interface SnapshotInput {
  vmId: string
  snapshotId: string
}

interface Input extends SnapshotInput {
  chargedCents?: string
}

export const takeSnapshot = workflow<Input>('snapshot.create', { deadline: '3h' })
  .step('copy', {
    timeout: '1h',
    run: async ({ deps, input, signal }) => (await driverForVmId(deps, input.vmId)).ensureSnapshot(input.vmId, input.snapshotId, signal),
    undo: async ({ deps, input, signal }) => (await driverForVmId(deps, input.vmId)).ensureNoSnapshot(input.vmId, input.snapshotId, signal),
  })
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    const snapshot = toSnapshot(await sql.markTaken(tx, now, input.snapshotId, results.copy.sizeBytes))
    await recordVmEvent(tx, deps, input.vmId, 'snapshot.created', { actionId: runId }, { snapshot })
  })
  .onFailure(async (tx, { input, now }) => {
    await sql.markFailed(tx, input.snapshotId)
    await releaseCopies(tx, await sql.uncountSnapshots(tx, [input.snapshotId]))
    await refundFailedCopy(tx, now, await getVmRow(tx, input.vmId), input.chargedCents)
  })
