// Fails snapshots and backups whose data is missing on their host: removed by hand, or by an unfinished deletion of their VM. A single
// listing is not trusted; data must be missing in two of them. VMs with an open run and unmanaged VMs are skipped. Backups that depend on
// a missing one fail with it, because they can no longer be restored.
import { parseDurationMs } from '../../kernel/clock.ts'
import { sql, type Tx } from '../../kernel/database/db.ts'
import { hasOpenRun } from '../../workflow/run-store.ts'
import { releaseSnapshots } from '../snapshots/service.ts'
import { refundCopies } from '../vms/service.ts'
import { releaseBackups } from './service.ts'

const BETWEEN_LOOKS_MS = parseDurationMs('10s')

export interface LostCopy {
  table: 'snapshots' | 'backups'
  id: string
  vm_id: string
}

/** `present`: ids of all snapshots and backups on the host. Returns those marked FAILED by this call. */
export async function failMissingCopies(tx: Tx, now: Date, hostId: string, present: string[]): Promise<LostCopy[]> {
  const before = new Date(now.getTime() - BETWEEN_LOOKS_MS)
  const isIdle = sql`v.id = c.vm_id and v.status <> 'UNMANAGED'
    and not ${hasOpenRun(sql`c.vm_id`)}`
  const isMissing = sql`not exists (select from unnest(${present}::text[]) as p(id) where p.id = c.id)`
  const beside = sql`v.host_id = ${hostId} and c.status = 'AVAILABLE'`
  const kept = sql`c.host_id = ${hostId} and (c.status = 'AVAILABLE' or ${isKeptForOthers})`
  const found = sql`set missing_since = null from vms v where c.missing_since is not null and ${isIdle} and not ${isMissing}`
  const given = sql`status = 'FAILED', size_bytes = 0, missing_since = null`
  const up = sql`from vms v where c.missing_since <= ${before} and ${isIdle} and ${isMissing}`
  const noted = sql`set missing_since = ${now} from vms v where c.missing_since is null and ${isIdle} and ${isMissing}`
  await tx.run(sql`update snapshots c ${found} and ${beside}`)
  await tx.run(sql`update backups c ${found} and ${kept}`)
  const snapshots = await tx.many<LostCopy>(sql`update snapshots c set ${given}, size_refreshed_at = null ${up} and ${beside}
    returning c.id, c.vm_id, 'snapshots' as table`)
  const backups = await tx.many<LostCopy>(
    sql`update backups c set ${given}, error = 'Its data is no longer on the host', parent_id = null ${up} and ${kept}
      returning c.id, c.vm_id, 'backups' as table`,
  )
  const broken = await failBrokenChains(tx, hostId)
  await tx.run(sql`update snapshots c ${noted} and ${beside}`)
  await tx.run(sql`update backups c ${noted} and ${kept}`)
  const idsOf = (lost: LostCopy[]): string[] => lost.map(({ id }) => id)
  const gone = [...(await releaseSnapshots(tx, idsOf(snapshots))), ...(await releaseBackups(tx, idsOf([...backups, ...broken])))]
  await refundCopies(tx, now, gone)
  return [...snapshots, ...backups, ...broken]
}

/** A tombstone: deleted by its owner and hidden, kept because other backups depend on it. */
const isKeptForOthers = sql`c.status = 'DELETING' and c.is_tombstone and exists (select from backups d where d.parent_id = c.id)`

/**
 * A later run finds a backup that was being created when its parent failed. Its data is purged like that of any failed backup; until
 * then the volumes still depend on each other.
 */
const failBrokenChains = (tx: Tx, hostId: string): Promise<LostCopy[]> =>
  tx.many<LostCopy>(sql`
    with recursive broken as (
      select b.id from backups b join backups p on p.id = b.parent_id where p.host_id = ${hostId} and p.status = 'FAILED'
      union select b.id from backups b join broken p on p.id = b.parent_id)
    update backups set status = 'FAILED', size_bytes = 0, missing_since = null, error = 'A backup that it builds on is no longer on the host'
    where id in (select id from broken) and status = 'AVAILABLE'
    returning id, vm_id, 'backups' as table`)
