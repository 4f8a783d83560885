// Fails snapshots of volumes whose data is missing on their host in two listings, some seconds apart, and gives back what they took.
import { parseDurationMs } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { getVolumeRow, refundSnapshot, releaseSnapshot } from './release.ts'
import * as sql from './sql.ts'

const BETWEEN_LOOKS_MS = parseDurationMs('10s')

/** `present`: ids of all snapshots on the host. Returns the ids of those marked FAILED. */
export async function failMissingSnapshots(tx: Tx, now: Date, hostId: string, present: string[]): Promise<string[]> {
  const lost = await sql.missingSnapshots(tx, hostId, present, new Date(now.getTime() - BETWEEN_LOOKS_MS))
  for (const { id, volume_id } of lost) {
    const volume = await getVolumeRow(tx, volume_id)
    const held = await sql.markFailed(tx, id)
    await releaseSnapshot(tx, volume, held)
    await refundSnapshot(tx, now, volume, held)
  }
  await sql.recordMissing(tx, now, hostId, present)
  return lost.map(({ id }) => id)
}
