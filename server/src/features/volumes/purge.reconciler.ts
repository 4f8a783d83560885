// Removes the data of deleted volumes and of their snapshots; their room is released then. A host or storage backend that does not answer is asked again later.
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost, findHost } from '../hosts/service.ts'
import { getStorageBackend } from '../storage/service.ts'
import { PURGE, releaseRoom } from './service.ts'
import * as sql from './sql.ts'

const STORAGE_MS = 120_000

type Deleted = Awaited<ReturnType<typeof sql.deletedIn>>[number]

/** Keyed by host or storage backend. */
export const purgeVolumes = keyedReconciler(PURGE, '30s', {
  busy: ({ db }) => sql.placesToPurge(db),
  runOnce: async (deps, place, stopping) => {
    for (const row of await sql.deletedIn(deps.db, place)) if (await removeData(deps, row, stopping)) await forget(deps, row.id)
  },
})

async function removeData(deps: Deps, row: Deleted, stopping: AbortSignal): Promise<boolean> {
  const { id: volumeId, generation, host_id, storage_id, snapshot_ids } = row
  if (host_id === null) return purgeFromStorage(deps, storage_id!, volumeId, stopping)
  // What a host that was removed still has is an orphan, should it come back.
  if ((await findHost(deps.db, host_id))?.removed_at) return true
  const volume = { volumeId, generation, storageId: null }
  const remove = callHost(deps, host_id, stopping, async (driver, signal) => {
    for (const snapshotId of snapshot_ids) await driver.ensureNoVolumeSnapshot(volume, { snapshotId, vmId: null }, signal)
    await driver.ensureNoVolume(volume, signal)
  })
  return (await remove) === null
}

async function purgeFromStorage({ db, log, storage }: Deps, storageId: string, volumeId: string, stopping: AbortSignal): Promise<boolean> {
  const pool = storage.open(await getStorageBackend(db, storageId))
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(STORAGE_MS)])
  try {
    if (await pool.isOpen(volumeId, signal)) return false
    await pool.ensurePurged(volumeId, signal)
    return true
  } catch (error) {
    log.info({ err: error, storageId, volumeId }, 'removing volume from storage backend failed; will retry')
    return false
  }
}

const forget = ({ db }: Deps, id: string): Promise<void> =>
  db.tx(async (tx) => {
    const row = await sql.lockVolumeById(tx, id)
    if (!row || row.deleted_at === null) return
    await releaseRoom(tx, row, row.size_gib + (await sql.snapshotGib(tx, id)))
    await sql.deleteVolume(tx, id)
  })
