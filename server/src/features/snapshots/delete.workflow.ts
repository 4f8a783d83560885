import { workflow } from '../deps.ts'
import { driverForVmId, recordVmEvent } from '../vms/service.ts'
import * as sql from './sql.ts'
import type { SnapshotInput } from './create.workflow.ts'
import { toSnapshot } from './view.ts'

/** A failed delete is not compensated: the snapshot becomes FAILED, because its data may be incomplete, and can be deleted again. */
export const deleteSnapshot = workflow<SnapshotInput>('snapshot.delete', { deadline: '1h' })
  .step('remove', {
    tries: 100,
    run: async ({ deps, input, signal }) => (await driverForVmId(deps, input.vmId)).ensureNoSnapshot(input.vmId, input.snapshotId, signal),
  })
  .onSuccess(async (tx, { deps, input, runId }) => {
    const snapshot = toSnapshot(await sql.deleteSnapshot(tx, input.snapshotId))
    await recordVmEvent(tx, deps, input.vmId, 'snapshot.deleted', { actionId: runId }, { snapshot })
  })
  .onFailure((tx, { input }) => sql.markFailed(tx, input.snapshotId))
