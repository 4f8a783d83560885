// Measures how much can be written to every storage backend, and reports one that does not answer. Keys of removed ones are
// deleted.
import type { Metrics } from '../../kernel/metrics.ts'
import { reconciler } from '../deps.ts'
import { listStorageBackends, markStorageUnreachable, recordSpace, storageAboveReserveGiB } from './service.ts'

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
  report(metrics, await listStorageBackends(db))
  await storage.removeUnusedKeys()
})

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
