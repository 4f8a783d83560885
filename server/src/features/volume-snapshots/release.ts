// What a snapshot of a volume took is given back: quota, room and the money of its unused days.
import type { Tx } from '../../kernel/database/db.ts'
import type { EventDeps } from '../deps.ts'
import type { EventType } from '../events/schema.ts'
import { recordEvent } from '../events/service.ts'
import { refundUnused, unusedDays } from '../renewals/service.ts'
import { releaseCopyQuota } from '../vms/service.ts'
import { addPeriodPrice, lockVolumeById, releaseRoom, toVolume, volumeById, type ShownVolume } from '../volumes/service.ts'
import type { volumeSnapshotEvents } from './schema.ts'
import type { VolumeSnapshotRow } from './sql.ts'
import { toVolumeSnapshot } from './view.ts'

/** Of a volume that an action works on. */
export async function getVolumeRow(tx: Tx, id: string): Promise<ShownVolume> {
  const row = await lockVolumeById(tx, id)
  if (!row) throw new Error(`BUG: volume ${id} is gone while an action works on it`)
  return row
}

/** `held`: as it counted until now. */
export const releaseSnapshot = async (tx: Tx, volume: ShownVolume, { counted_gib }: VolumeSnapshotRow): Promise<void> => {
  await releaseCopyQuota(tx, volume.account_id, counted_gib)
  if (counted_gib > 0) await releaseRoom(tx, volume, counted_gib)
}

/** Locks the wallet: call it last. */
export async function refundSnapshot(tx: Tx, now: Date, volume: ShownVolume, held: VolumeSnapshotRow): Promise<void> {
  const { price_cents, name } = held
  if (price_cents === 0n) return
  await addPeriodPrice(tx, volume.id, -price_cents)
  const unused = await unusedDays(tx, now, { ...volume, period_price_cents: price_cents })
  const what = `snapshot ${name} of volume ${volume.name}`
  await refundUnused(tx, now, volume, unused, { type: 'VOLUME_REFUND', what, referenceType: 'VOLUME' })
}

interface EventDetail {
  actionId: string | null
  reason?: string | null
}

/** Call it after the change: the event shows both as they are now. */
export async function recordSnapshotEvent(
  tx: Tx,
  deps: EventDeps,
  row: VolumeSnapshotRow,
  type: keyof typeof volumeSnapshotEvents & EventType,
  { actionId, reason = null }: EventDetail,
): Promise<void> {
  const volume = (await volumeById(tx, row.volume_id))!
  const data = { volume: toVolume(volume), snapshot: toVolumeSnapshot(row), actionId, reason }
  await recordEvent(tx, deps, { accountId: volume.account_id, type, subjectId: volume.id, data })
}
