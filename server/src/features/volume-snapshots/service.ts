// Snapshots of volumes. An action works on the VM that has the volume, or on the volume itself. Lock order: VM, volume, snapshot, quotas, storage
// backend or host, event log, wallet.
import { DryRunResult } from '../../http/api/api.ts'
import type { Principal } from '../../http/api/principal.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { quotaLimit, reserveQuota } from '../accounts/service.ts'
import { requireSelected, spenderOf } from '../budgets/service.ts'
import type { ActionStarted } from '../actions/schema.ts'
import { catalogNumbers } from '../catalog/service.ts'
import type { Deps } from '../deps.ts'
import type { CreateSnapshot, UpdateSnapshot } from '../snapshots/schema.ts'
import { COPIES_QUOTA, lockedOf } from '../backup-targets/service.ts'
import { reserveRestoreRoom } from '../vms/service.ts'
import {
  beginRun,
  nextGeneration,
  proratedForRest,
  requirePaid,
  requirePaidPeriod,
  requireVolume,
  reserveRoom,
  startVolumeAction,
  type ShownVolume,
} from '../volumes/service.ts'
import { balanceOf, type Quote, requireFunds, toQuote } from '../wallet/service.ts'
import { takeVolumeSnapshot } from './create.workflow.ts'
import { deleteVolumeSnapshot } from './delete.workflow.ts'
import { restoreVolume } from './restore.workflow.ts'
import type { VolumeSnapshot, VolumeSnapshotCreated } from './schema.ts'
import * as sql from './sql.ts'
import { toVolumeSnapshot } from './view.ts'

/** Of the VM that has the volume; null: none has it. */
export type OnVm<T> = T & { vmId: string | null }

export const createVolumeSnapshot = (
  tx: Tx,
  deps: Deps,
  who: Principal,
  volumeId: string,
  input: CreateSnapshot,
  dryRun = false,
): Promise<OnVm<VolumeSnapshotCreated> | DryRunResult<Quote>> =>
  startVolumeAction(tx, deps, who, volumeId, {
    verb: 'snapshot',
    label: 'VOLUME_SNAPSHOT_CREATE',
    act: async (row, start) => {
      const now = deps.clock.now()
      requirePaid(row, now)
      if (!row.has_data) throw apiError('invalid_state', `The volume ${row.name} was never attached, so there is nothing on it yet`)
      await requireFewer(tx, row)
      const { countedGib, priceCents, chargeCents } = await reserveSnapshot(tx, deps, row)
      const { name, description = '', labels = {} } = input
      const counted = { size_gib: row.size_gib, counted_gib: countedGib }
      const snapshot = await sql.insertSnapshot(tx, {
        id: newId(),
        volume_id: row.id,
        name,
        description,
        labels,
        ...counted,
        created_at: now,
      })
      const order = {
        vmId: row.vm_id,
        volumeId: row.id,
        snapshotId: snapshot.id,
        priceCents: priceCents.toString(),
        ...spenderOf(tx, row.account_id),
      }
      const { actionId } = await start(takeVolumeSnapshot, order)
      await beginRun(tx, now, row.id, actionId)
      if (!dryRun) return { snapshot: toVolumeSnapshot(snapshot), actionId, vmId: row.vm_id }
      const balanceAfter = (await balanceOf(tx, row.account_id)) - chargeCents
      return new DryRunResult(
        toQuote(tx, deps.config.currency, { charge: chargeCents, monthly: row.renewal_price_cents + priceCents, balanceAfter }),
      )
    },
  })

async function requireFewer(tx: Tx, { id, account_id }: ShownVolume): Promise<void> {
  const limit = await quotaLimit(tx, account_id, 'snapshots_per_volume')
  const count = await sql.countSnapshots(tx, id)
  if (count >= limit)
    throw apiError('quota_exceeded', `Quota exceeded: this volume has ${count} of ${limit} snapshots. Delete one, or ask support for more`)
}

/** A snapshot counts as its volume, so that its price is known before it is taken. It is charged once it is there. */
async function reserveSnapshot(tx: Tx, deps: Deps, row: ShownVolume) {
  const now = deps.clock.now()
  const countedGib = row.size_gib
  const priceCents = BigInt(countedGib) * (await catalogNumbers(tx))('price.copies_gib')
  if (priceCents > 0n) requirePaidPeriod(row, now)
  const chargeCents = priceCents > 0n ? proratedForRest(row, now, priceCents) : 0n
  await reserveQuota(tx, row.account_id, COPIES_QUOTA, BigInt(countedGib), () => lockedOf(tx, row.account_id))
  await requireFunds(tx, now, row.account_id, chargeCents, deps.config.currency)
  if (chargeCents > 0n) await requireSelected(tx, now, row.account_id, row.id)
  await reserveRoom(tx, row, countedGib)
  return { countedGib, priceCents, chargeCents }
}

export async function listVolumeSnapshots(
  db: Queries,
  accountId: string,
  volumeId: string,
  labelSelector: string | undefined,
  page: PageRequest,
): Promise<Paged<VolumeSnapshot>> {
  await requireVolume(db, accountId, volumeId)
  return pageOf(
    page,
    () => sql.countSnapshots(db, volumeId, labelSelector),
    async (range) => (await sql.listSnapshots(db, volumeId, labelSelector, range)).map(toVolumeSnapshot),
  )
}

export async function getVolumeSnapshot(db: Queries, accountId: string, volumeId: string, id: string): Promise<VolumeSnapshot> {
  await requireVolume(db, accountId, volumeId)
  return toVolumeSnapshot(await requireSnapshot(db, volumeId, id))
}

export async function updateVolumeSnapshot(
  tx: Tx,
  accountId: string,
  volumeId: string,
  id: string,
  change: UpdateSnapshot,
): Promise<VolumeSnapshot> {
  if (Object.keys(change).length === 0) throw invalid('give at least one of name, description, labels')
  await requireVolume(tx, accountId, volumeId)
  const row = await sql.lockSnapshot(tx, volumeId, id)
  if (!row) throw notFound('Snapshot')
  return toVolumeSnapshot(await sql.describeSnapshot(tx, { ...row, ...change }))
}

async function requireSnapshot(db: Queries, volumeId: string, id: string): Promise<sql.VolumeSnapshotRow> {
  const row = await sql.findSnapshot(db, volumeId, id)
  if (!row) throw notFound('Snapshot')
  return row
}

/** Only while it is detached: a guest would find other data below its filesystem. */
export async function restoreVolumeSnapshot(tx: Tx, deps: Deps, who: Principal, volumeId: string, id: string): Promise<ActionStarted> {
  const { name, vm_id: vmId } = await requireVolume(tx, who.accountId, volumeId)
  await requireSnapshot(tx, volumeId, id)
  if (vmId !== null) throw apiError('in_use', `The volume ${name} is attached to a VM: detach it, restore it, and attach it again`)
  return startVolumeAction(tx, deps, who, volumeId, {
    verb: 'snapshot',
    label: 'VOLUME_RESTORE',
    find: () => requireSnapshot(tx, volumeId, id),
    act: async (row, start, { status }) => {
      const now = deps.clock.now()
      requirePaid(row, now)
      if (status !== 'AVAILABLE') throw apiError('invalid_state', `Snapshot must be AVAILABLE to restore; it is ${status}`)
      if (row.is_protected) throw apiError('protected', 'The volume is protected against restore: set isProtected to false first')
      await sql.setStatus(tx, id, 'RESTORING')
      const runId = newId()
      await reserveRestoreRoom(tx, runId, row, { copyGiB: 0, diskGiB: row.size_gib })
      const generations = { generation: await nextGeneration(tx, volumeId), generationBefore: row.generation }
      const started = await start(restoreVolume, { volumeId, snapshotId: id, ...generations }, runId)
      await beginRun(tx, now, volumeId, started.actionId)
      return started
    },
  })
}

export const removeVolumeSnapshot = (tx: Tx, deps: Deps, who: Principal, volumeId: string, id: string): Promise<OnVm<ActionStarted>> =>
  startVolumeAction(tx, deps, who, volumeId, {
    verb: null,
    label: 'VOLUME_SNAPSHOT_DELETE',
    find: () => requireSnapshot(tx, volumeId, id),
    act: async (row, start) => {
      await sql.setStatus(tx, id, 'DELETING')
      const { actionId } = await start(deleteVolumeSnapshot, { vmId: row.vm_id, volumeId, snapshotId: id })
      await beginRun(tx, deps.clock.now(), volumeId, actionId)
      return { actionId, vmId: row.vm_id }
    },
  })
