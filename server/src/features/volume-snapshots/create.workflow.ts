import type { Tx } from '../../kernel/database/db.ts'
import { formatCents } from '../../kernel/money.ts'
import { StepError } from '../../workflow/workflow-builder.ts'
import type { Spender } from '../budgets/service.ts'
import { workflow, type Deps } from '../deps.ts'
import { lockVmById } from '../vms/service.ts'
import { addPeriodPrice, endRun, lockVolumeById, placeOfVolume, proratedForRest, toVolumeSpec, volumeById } from '../volumes/service.ts'
import { tryCharge } from '../wallet/service.ts'
import { getVolumeRow, recordSnapshotEvent, releaseSnapshot } from './release.ts'
import * as sql from './sql.ts'

export interface VolumeSnapshotInput {
  /** The VM that has the volume; null: none has it. */
  vmId: string | null
  volumeId: string
  snapshotId: string
}

interface Input extends VolumeSnapshotInput, Spender {
  /** A month. */
  priceCents: string
}

/** A renewal meanwhile would change the period that is charged. */
export async function lockBoth(tx: Tx, { vmId, volumeId }: VolumeSnapshotInput): Promise<void> {
  if (vmId !== null) await lockVmById(tx, vmId)
  await lockVolumeById(tx, volumeId)
}

async function volumeOf({ db }: Deps, volumeId: string) {
  const row = await volumeById(db, volumeId)
  if (!row) throw new Error(`BUG: volume ${volumeId} is gone while an action works on it`)
  return row
}

export const takeVolumeSnapshot = workflow<Input>('volume_snapshot.create', { deadline: '3h', queue: 'copies', locks: lockBoth })
  .step('copy', {
    timeout: '1h',
    run: async ({ deps, input: { volumeId, snapshotId }, signal }) => {
      const row = await volumeOf(deps, volumeId)
      const data = row.vm_host_id === null ? await placeOfVolume(deps, row) : await deps.hypervisors.get(row.vm_host_id)
      return data.ensureVolumeSnapshot(toVolumeSpec(row), { snapshotId, vmId: row.vm_id }, signal)
    },
    undo: removeData,
  })
  .onSuccess(async (tx, { deps, input, results, runId, now }) => {
    const volume = await getVolumeRow(tx, input.volumeId)
    const snapshot = await sql.markTaken(tx, now, input.snapshotId, results.copy.sizeBytes)
    await endRun(tx, now, volume.id)
    await recordSnapshotEvent(tx, deps, snapshot, 'volume.snapshot_created', { actionId: runId })
    const priceCents = BigInt(input.priceCents)
    if (priceCents === 0n) return
    await sql.setPrice(tx, snapshot.id, priceCents)
    await addPeriodPrice(tx, volume.id, priceCents)
    const amount = proratedForRest(volume, now, priceCents)
    const description = `Snapshot ${snapshot.name} of volume ${volume.name} for the rest of the period`
    const entry = { type: 'ADDON_CHARGE', description, referenceType: 'VOLUME', referenceId: volume.id } as const
    const by = { spender: input, currency: deps.config.currency }
    if (amount === 0n || (await tryCharge(tx, now, volume.account_id, amount, entry, by))) return
    const price = `${formatCents(amount)} ${deps.config.currency}`
    const reason = `The wallet no longer held ${price} when the snapshot was made, its price for the rest of the period`
    throw new StepError('insufficient_funds', reason, { retry: false })
  })
  .onFailure(async (tx, { deps, input, error, runId, now }) => {
    const volume = await getVolumeRow(tx, input.volumeId)
    await releaseSnapshot(tx, volume, await sql.markFailed(tx, input.snapshotId))
    await endRun(tx, now, volume.id)
    const failed = (await sql.findSnapshot(tx, volume.id, input.snapshotId))!
    const reason = error?.userMessage ?? null
    await recordSnapshotEvent(tx, deps, failed, 'volume.snapshot_failed', { actionId: runId, reason })
  })

/** The host of the VM, if there is one, aborts what it still makes. */
export async function removeData({
  deps,
  input: { volumeId, snapshotId },
  signal,
}: {
  deps: Deps
  input: VolumeSnapshotInput
  signal: AbortSignal
}): Promise<void> {
  const row = await volumeOf(deps, volumeId)
  await (await placeOfVolume(deps, row)).ensureNoVolumeSnapshot(toVolumeSpec(row), { snapshotId, vmId: row.vm_id }, signal)
}
