// Grows a volume: the transaction reserves and charges the difference. Of a volume that a VM has, the workflow has the host follow, live where
// the VM runs, and a failure gives everything back unless the data has grown nevertheless: it never shrinks, so it is sold then. The data of a
// detached one grows when it is attached again.
import { DryRunResult } from '../../http/api/api.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { invalid } from '../../kernel/errors.ts'
import type { Cents } from '../../kernel/money.ts'
import type { EndContext } from '../../workflow/workflow-builder.ts'
import { releaseQuotas, reserveQuotas } from '../accounts/service.ts'
import { requireSelected } from '../budgets/service.ts'
import { workflow, type Deps } from '../deps.ts'
import { driverForVmId, startAction } from '../vms/service.ts'
import { balanceOf, charge, type Quote, refund, requireFunds, toQuote } from '../wallet/service.ts'
import { volumeSpec, type VolumeInput } from './attach.workflow.ts'
import { recordVolumeEvent } from './events.ts'
import { lockOwnVolume, movedError, requireIdleVolume, requirePaidPeriod, requireVolume } from './guards.ts'
import type { UpdateVolume, Volume } from './schema.ts'
import { getVolume, monthlyPrice, proratedForRest, quotasOf, referenceTo, releaseRoom, reserveRoom } from './service.ts'
import * as sql from './sql.ts'

/** JSON-compatible: stored in the workflow journal. */
interface GrowInput extends VolumeInput {
  before: { sizeGiB: number; periodPriceCents: string }
  moreGiB: number
  chargedCents: string
}

async function markGrown(tx: Tx, { deps, input: { volumeId }, runId, now }: EndContext<Deps, GrowInput, unknown>): Promise<void> {
  await sql.endRun(tx, now, volumeId)
  await recordVolumeEvent(tx, deps, volumeId, 'volume.grown', { actionId: runId })
}

export const growWorkflow = workflow<GrowInput>('volume.grow', { deadline: '10m' })
  .step('grow', {
    timeout: '2m',
    run: async ({ deps, input: { vmId, volumeId }, signal }) =>
      (await driverForVmId(deps, vmId)).ensureVolumeSize(vmId, await volumeSpec(deps.db, volumeId), signal),
    // Only measures it.
    undo: async ({
      deps,
      input: {
        vmId,
        volumeId,
        before: { sizeGiB },
      },
      signal,
    }) => (await driverForVmId(deps, vmId)).ensureVolumeSize(vmId, { ...(await volumeSpec(deps.db, volumeId)), sizeGiB }, signal),
  })
  .onSuccess(markGrown)
  .onFailure(async (tx, context) => {
    const { deps, input, results, error, runId, now } = context
    const { volumeId, before, moreGiB, chargedCents } = input
    if ((results.grow?.sizeGiB ?? 0) >= before.sizeGiB + moreGiB) return markGrown(tx, context)
    const row = (await sql.lockVolumeById(tx, volumeId))!
    await releaseQuotas(tx, row.account_id, quotasOf(moreGiB, 0n))
    await releaseRoom(tx, row, moreGiB)
    await sql.setSize(tx, now, volumeId, { sizeGiB: before.sizeGiB, periodPriceCents: BigInt(before.periodPriceCents), runId: null })
    await recordVolumeEvent(tx, deps, volumeId, 'volume.grow_failed', { actionId: runId, reason: error?.userMessage ?? null })
    const description = `The volume ${row.name} could not be grown`
    if (BigInt(chargedCents) > 0n)
      await refund(tx, now, row.account_id, BigInt(chargedCents), { type: 'VOLUME_REFUND', description, ...referenceTo(volumeId) })
  })

export async function updateVolume(
  tx: Tx,
  deps: Deps,
  who: { accountId: string },
  id: string,
  change: UpdateVolume,
  dryRun = false,
): Promise<Volume | DryRunResult<Quote>> {
  if (Object.keys(change).length === 0) throw invalid('give at least one of name, labels, isProtected, sizeGiB')
  const { size_gib, vm_id: vmId } = await requireVolume(tx, who.accountId, id)
  const isGrowing = change.sizeGiB !== undefined && change.sizeGiB !== size_gib
  const row = () => lockOwnVolume(tx, who.accountId, id)
  if (!isGrowing || vmId === null) return applyChange(tx, deps, await row(), change, null, dryRun)
  return startAction(tx, deps, who, vmId, {
    verb: 'grow',
    label: 'VOLUME_GROW',
    find: row,
    act: (_, start, found) =>
      applyChange(tx, deps, found, change, async (input) => (await start(growWorkflow, { ...input, vmId })).actionId, dryRun),
  })
}

type StartGrow = (input: Omit<GrowInput, 'vmId'>) => Promise<string>

/** Of a locked volume. `start`: of the locked, idle VM that has it. */
async function applyChange(
  tx: Tx,
  deps: Deps,
  row: sql.ShownVolume,
  change: UpdateVolume,
  start: StartGrow | null,
  dryRun: boolean,
): Promise<Volume | DryRunResult<Quote>> {
  const { name = row.name, labels = row.labels, isProtected = row.is_protected, sizeGiB = row.size_gib } = change
  if (change.labels !== undefined) await requireSelected(tx, deps.clock.now(), row.account_id, row.id) // as it was: nobody with a budget labels nothing into it
  await sql.describeVolume(tx, deps.clock.now(), row.id, { name, labels, is_protected: isProtected })
  const cents = sizeGiB === row.size_gib ? 0n : await grow(tx, deps, row, sizeGiB, start)
  if (!dryRun) return getVolume(tx, row.account_id, row.id)
  const monthly = (await sql.volumeById(tx, row.id))!.renewal_price_cents
  return new DryRunResult(toQuote(tx, deps.config.currency, { charge: cents, monthly, balanceAfter: await balanceOf(tx, row.account_id) }))
}

/** Returns what was charged. */
async function grow(tx: Tx, deps: Deps, row: sql.ShownVolume, sizeGiB: number, start: StartGrow | null): Promise<Cents> {
  const now = deps.clock.now()
  const { currency } = deps.config
  requireIdleVolume(row)
  if ((row.vm_id !== null) !== (start !== null)) throw movedError()
  if (sizeGiB < row.size_gib) throw invalid(`a volume cannot shrink: it has ${row.size_gib} GiB`, 'sizeGiB')
  requirePaidPeriod(row, now)
  const moreGiB = sizeGiB - row.size_gib
  const monthly = await monthlyPrice(tx, row.storage, sizeGiB)
  const paid = row.period_price_cents - row.snapshot_price_cents
  const price = monthly > paid ? proratedForRest(row, now, monthly - paid) : 0n
  await reserveQuotas(tx, row.account_id, quotasOf(moreGiB, 0n))
  await requireFunds(tx, now, row.account_id, price, currency)
  await reserveRoom(tx, row, moreGiB)
  // A price that has become lower than the paid one costs nothing. The paid one is kept, because refunds are prorated from it.
  const periodPriceCents = row.snapshot_price_cents + (monthly > paid ? monthly : paid)
  const before = { sizeGiB: row.size_gib, periodPriceCents: row.period_price_cents.toString() }
  const runId = (await start?.({ volumeId: row.id, before, moreGiB, chargedCents: price.toString() })) ?? null
  await sql.setSize(tx, now, row.id, { sizeGiB, periodPriceCents, runId })
  if (runId === null) await recordVolumeEvent(tx, deps, row.id, 'volume.grown')
  const description = `Growth of volume ${row.name} to ${sizeGiB} GiB for the rest of the period`
  if (price > 0n) await charge(tx, now, row.account_id, price, { type: 'VOLUME_UPGRADE', description, ...referenceTo(row.id), currency })
  return price
}
