import { workflow } from '../deps.ts'
import { driverForVmId, recordVmEvent, refundCopies, releaseCopies } from '../vms/service.ts'
import * as sql from './sql.ts'
import type { SnapshotInput } from './create.workflow.ts'
import { toSnapshot } from './view.ts'

/** A failed delete is not compensated: the snapshot becomes FAILED, because its data may be incomplete, and can be deleted again. */
export const deleteSnapshot = workflow<SnapshotInput>('snapshot.delete', { deadline: '1h' })
  .step('remove', {
    tries: 100,
    run: async ({ deps, input, signal }) => (await driverForVmId(deps, input.vmId)).ensureNoSnapshot(input.vmId, input.snapshotId, signal),
  })
  .onSuccess(async (tx, { deps, input, runId, now }) => {
    const copies = await sql.uncountSnapshots(tx, [input.snapshotId])
    await releaseCopies(tx, copies)
    const snapshot = toSnapshot(await sql.deleteSnapshot(tx, input.snapshotId))
    await recordVmEvent(tx, deps, input.vmId, 'snapshot.deleted', { actionId: runId }, { snapshot })
    await refundCopies(tx, now, copies)
  })
  .onFailure(async (tx, { input, now }) => {
    await sql.markFailed(tx, input.snapshotId)
    const copies = await sql.uncountSnapshots(tx, [input.snapshotId])
    await releaseCopies(tx, copies)
    await refundCopies(tx, now, copies)
  })
