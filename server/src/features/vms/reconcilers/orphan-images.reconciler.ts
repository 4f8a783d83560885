// Removes what a storage backend has of volumes that do not exist, of processes that were killed, and of VMs whose disk is not there: deleted while their host was lost, or placed elsewhere after a failed
// provisioning that could not be cleaned up. A VM must be an orphan at every check of a day, and one whose machine still runs is kept.
// What a VM no longer needs in its own backend is listed by its host (backups/orphan-volumes.reconciler.ts).
import { parseDurationMs } from '../../../kernel/clock.ts'
import { sql, type Queries } from '../../../kernel/database/db.ts'
import { hasOpenRun } from '../../../workflow/run-store.ts'
import { keyedReconciler, type Deps } from '../../deps.ts'
import { getStorageBackend, listStorageBackends } from '../../storage/service.ts'

const QUARANTINE_MS = parseDurationMs('24h')
const LISTING_MS = 120_000
const PURGE_MS = 600_000

export const sweepOrphanImages = keyedReconciler('vms.orphan_images', '10m', {
  busy: async ({ db }) => (await listStorageBackends(db)).flatMap((row) => (row.unreachable_since === null ? row.id : [])),
  runOnce: sweep,
})

async function sweep({ db, clock, log, storage }: Deps, storageId: string, stopping: AbortSignal): Promise<void> {
  const now = clock.now()
  const within = (ms: number): AbortSignal => AbortSignal.any([stopping, AbortSignal.timeout(ms)])
  const row = await getStorageBackend(db, storageId)
  const pool = storage.open(row)
  try {
    await pool.claim(within(LISTING_MS)) // the VMs of another backend are no orphans
    await pool.ensureNoDrafts(within(PURGE_MS))
    await recordOrphans(db, now, storageId, await pool.listOwnerIds(within(LISTING_MS)))
    for (const { vm_id: vmId } of await expired(db, storageId, new Date(now.getTime() - QUARANTINE_MS))) {
      if (await pool.isOpen(vmId, within(LISTING_MS))) continue
      await pool.ensurePurged(vmId, within(PURGE_MS))
      await forget(db, storageId, vmId)
      log.warn({ storage: row.name, vmId }, 'orphan images removed')
    }
  } catch (error) {
    log.warn({ err: error, storage: row.name }, 'sweeping storage backend failed; tried again later')
  }
}

/** Ids are never reused, so an orphan stays one. A VM that waits for a place may get its old one again. */
async function recordOrphans(db: Queries, now: Date, storageId: string, vmIds: string[]): Promise<void> {
  await db.run(sql`
    insert into orphan_images (storage_id, vm_id, first_seen_at, last_seen_at)
    select ${storageId}, f.id, ${now}, ${now} from unnest(${vmIds}::text[]) as f(id)
    where not exists (select from vms v where v.id = f.id and coalesce(v.storage_id, ${storageId}) = ${storageId}) and not ${hasOpenRun(sql`f.id`)}
      and not exists (select from volumes o where o.id = f.id)
    on conflict (storage_id, vm_id) do update set last_seen_at = excluded.last_seen_at`)
  await db.run(sql`delete from orphan_images where storage_id = ${storageId} and last_seen_at < ${now}`)
}

const expired = (db: Queries, storageId: string, before: Date) =>
  db.many<{ vm_id: string }>(sql`
    select vm_id from orphan_images where storage_id = ${storageId} and first_seen_at <= ${before} order by vm_id`)

const forget = (db: Queries, storageId: string, vmId: string) =>
  db.run(sql`delete from orphan_images where storage_id = ${storageId} and vm_id = ${vmId}`)
