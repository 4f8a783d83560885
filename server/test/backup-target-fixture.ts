// A region whose backups go to a bucket in memory.
import { newId } from '../src/kernel/ids.ts'
import { sql } from '../src/kernel/database/db.ts'
import { systemClock, type Clock } from '../src/kernel/clock.ts'
import type { TestApp, TestAppOptions } from './harness.ts'
import { MemoryObjectStore } from './memory-object-store.ts'

const stores = new Map<string, MemoryObjectStore>()

/** By the bucket's name. */
export const storesInMemory = (): TestAppOptions => ({
  openStore: async ({ bucket }) => Object.assign(stores.get(bucket)!, { close: () => {} }),
})

interface TargetOptions {
  lockDays?: number
  clock?: Clock
}

export async function givenBackupTarget(app: TestApp, { lockDays, clock = systemClock }: TargetOptions = {}): Promise<MemoryObjectStore> {
  const id = newId()
  const store = new MemoryObjectStore(clock, lockDays !== undefined)
  stores.set(id, store)
  await app.db.run(sql`
    insert into backup_targets (id, region_id, kind, endpoint, bucket, prefix, region_name, access_key, secret_key, lock_days, created_at)
    select ${id}, region_id, 's3', 'http://127.0.0.1:9', ${id}, '', 'us-east-1', 'key', '', ${lockDays ?? null}, ${app.clock.now()}
    from hosts where id = ${app.host.id}`)
  return store
}
