// Measures how much can be written to every storage backend, and reports one that does not answer. One below its reserve
// loses what only makes backups smaller. Keys of removed ones are deleted.
import type { Metrics } from '../../kernel/metrics.ts'
import type { StoragePool } from '../../hypervisor/storage-pool.ts'
import { reconciler, type Deps } from '../deps.ts'
import { listStorageBackends, markStorageUnreachable, recordSpace, storageAboveReserveGiB, type StorageBackendRow } from './service.ts'

const ANSWER_MS = 30_000

export const watchStorage = reconciler('storage.watch', '60s', async ({ db, clock, log, metrics, storage }) => {
  await Promise.all(
    (await listStorageBackends(db)).map(async (row) => {
      try {
        await recordSpace(db, row.id, clock.now(), await storage.open(row).space(AbortSignal.timeout(ANSWER_MS)))
      } catch (error) {
        log.warn({ err: error, storage: row.name }, 'measuring storage backend failed; marked unreachable')
        await markStorageUnreachable(db, row.id, clock.now())
      }
    }),
  )
  const measured = await listStorageBackends(db)
  report(metrics, measured)
  await Promise.all(measured.filter(isBelowReserve).map((row) => removeBases(log, row, storage.open(row))))
  await storage.removeUnusedKeys()
})

const isBelowReserve = ({ unreachable_since, free_gib, reserve_gib }: StorageBackendRow): boolean =>
  unreachable_since === null && free_gib !== null && reserve_gib !== null && free_gib < reserve_gib

/** So many in a pass: Ceph frees the space of a snapshot some time after it is gone. */
const BASES = 20

/** Nothing is booked for them: they give way to what guests write, and the next daily backup of such a VM is full. */
async function removeBases(log: Deps['log'], { name }: StorageBackendRow, pool: StoragePool): Promise<void> {
  try {
    const removed = await pool.removeBases(BASES, AbortSignal.timeout(ANSWER_MS))
    if (removed > 0) log.warn({ storage: name, removed }, 'storage backend is below its reserve; bases of incremental backups removed')
  } catch (error) {
    log.warn({ err: error, storage: name }, 'removing bases of incremental backups failed; will retry')
  }
}

/** Resets the gauges first, so that removed ones disappear. */
function report({ storageUp, storageRoom }: Metrics, rows: Awaited<ReturnType<typeof listStorageBackends>>): void {
  storageUp.reset()
  storageRoom.reset()
  for (const row of rows) {
    const above = storageAboveReserveGiB(row)
    storageUp.set({ storage: row.name }, row.unreachable_since === null ? 1 : 0)
    if (above !== null) storageRoom.set({ storage: row.name }, above / Math.max(1, row.capacity_gib ?? 1))
  }
}
