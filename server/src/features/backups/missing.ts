// Copies whose data is gone: removed by hand, or by a deletion of their VM that could not be finished. Like everything that a host says,
// it counts when it was seen twice; what something works on is left alone, and so is everything of a VM out of our hands.
import { milliseconds } from '../../kernel/clock.ts'
import { sql, type Tx } from '../../kernel/db.ts'

const BETWEEN_LOOKS_MS = milliseconds('10s')

export interface Lost {
  table: 'snapshots' | 'backups'
  id: string
  vm_id: string
}

/** `present`: the ids of all copies that the host has. Answers those that are given up now. */
export async function giveUpMissing(tx: Tx, now: Date, hostId: string, present: string[]): Promise<Lost[]> {
  const before = new Date(now.getTime() - BETWEEN_LOOKS_MS)
  const isIdle = sql`c.status = 'AVAILABLE' and v.id = c.vm_id and v.status <> 'UNMANAGED'
    and not exists (select from workflow_runs r where r.subject_id = c.vm_id and (r.status in ('PENDING', 'RUNNING') or r.unwinding))`
  const isMissing = sql`not exists (select from unnest(${present}::text[]) as p(id) where p.id = c.id)`
  const [beside, kept] = [sql`v.host_id = ${hostId}`, sql`c.host_id = ${hostId}`]
  const found = sql`set missing_since = null from vms v where c.missing_since is not null and ${isIdle} and not ${isMissing}`
  const given = sql`status = 'FAILED', size_bytes = 0, missing_since = null`
  const up = sql`from vms v where c.missing_since <= ${before} and ${isIdle} and ${isMissing}`
  const noted = sql`set missing_since = ${now} from vms v where c.missing_since is null and ${isIdle} and ${isMissing}`
  await tx.run(sql`update snapshots c ${found} and ${beside}`)
  await tx.run(sql`update backups c ${found} and ${kept}`)
  const snapshots = await tx.many<Lost>(sql`update snapshots c set ${given}, size_refreshed_at = null ${up} and ${beside}
    returning c.id, c.vm_id, 'snapshots' as table`)
  const backups = await tx.many<Lost>(
    sql`update backups c set ${given}, error = 'Its data is no longer on the host', parent_id = null ${up} and ${kept}
      returning c.id, c.vm_id, 'backups' as table`,
  )
  await tx.run(sql`update snapshots c ${noted} and ${beside}`)
  await tx.run(sql`update backups c ${noted} and ${kept}`)
  return [...snapshots, ...backups]
}
