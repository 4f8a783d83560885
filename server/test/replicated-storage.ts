// Storage backends of simulated hosts.
import { addSimulatedStorage, type StorageBackendRow } from '../src/features/storage/service.ts'
import { sql } from '../src/kernel/database/db.ts'
import type { TestApp } from './harness.ts'

/** Makes all plans replicated, with a pool that is never full. */
export async function sellReplicated(app: TestApp): Promise<StorageBackendRow> {
  const { slug } = await app.db.one<{ slug: string }>(
    sql`select r.slug from regions r join hosts h on h.region_id = r.id where h.id = ${app.host.id}`,
  )
  const pool = { name: 'pool', region: slug, sizeGiB: 1_000_000, reservePercent: 10 }
  const row = await app.db.tx((tx) => addSimulatedStorage(tx, app.clock.now(), pool))
  await app.db.run(sql`update plans set storage = 'REPLICATED'`)
  return row
}
