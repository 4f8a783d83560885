import type { Spender } from '../budgets/service.ts'
import { workflow } from '../deps.ts'
import { chargeCopy, driverForVmId, lockVmById, recordVmEvent, releaseCopies } from '../vms/service.ts'
import * as sql from './sql.ts'
import { toSnapshot } from './view.ts'

export interface SnapshotInput {
  vmId: string
  snapshotId: string
}

interface Input extends SnapshotInput, Spender {
  /** Missing in the journal of a run that an older release started. */
  priceCents?: string
}

export const takeSnapshot = workflow<Input>('snapshot.create', {
  deadline: '3h',
  queue: 'copies',
  locks: (tx, { vmId }) => lockVmById(tx, vmId), // a renewal meanwhile would change the period that is charged
})
  .step('copy', {
    timeout: '1h',
    run: async ({ deps, input, signal }) => (await driverForVmId(deps, input.vmId)).ensureSnapshot(input.vmId, input.snapshotId, signal),
    undo: async ({ deps, input, signal }) => (await driverForVmId(deps, input.vmId)).ensureNoSnapshot(input.vmId, input.snapshotId, signal),
  })
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    const snapshot = toSnapshot(await sql.markTaken(tx, now, input.snapshotId, results.copy.sizeBytes))
    await recordVmEvent(tx, deps, input.vmId, 'snapshot.created', { actionId: runId }, { snapshot })
    const priceCents = BigInt(input.priceCents ?? 0)
    if (priceCents === 0n) return
    await sql.setPrice(tx, input.snapshotId, priceCents)
    await chargeCopy(tx, deps, now, { vmId: input.vmId, priceCents, what: `Snapshot ${snapshot.name}`, spender: input })
  })
  .onFailure(async (tx, { input }) => {
    await sql.markFailed(tx, input.snapshotId)
    await releaseCopies(tx, await sql.uncountSnapshots(tx, [input.snapshotId]))
  })
