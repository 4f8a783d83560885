// Records of orphan volumes: volumes on a host without a row, or no longer used by their VM. They persist between two checks.
import type { Volume } from '../../hypervisor/driver.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import { sql, type Queries } from '../../kernel/database/db.ts'
import { hasOpenRun } from '../../workflow/run-store.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

/** Quarantine of an unknown volume, and of a stale disk of an existing VM. */
const QUARANTINE_MS = parseDurationMs('24h')
const OLD_DISK_MS = parseDurationMs('10m')

/** Orphans first seen before these times may be removed. */
export const quarantineEnds = (now: Date) => ({
  oldDisks: new Date(now.getTime() - OLD_DISK_MS),
  orphans: new Date(now.getTime() - QUARANTINE_MS),
})

export const removedAfter = ({ is_old_disk, first_seen_at }: OrphanVolumeRow): Date =>
  new Date(first_seen_at.getTime() + (is_old_disk ? OLD_DISK_MS : QUARANTINE_MS))

export type OrphanVolumeRow = Row<'orphan_volumes'>

/** For the operator: all quarantined volumes, oldest first. */
export const listOrphanVolumes = (db: Queries) =>
  db.many<OrphanVolumeRow & { host_name: string }>(
    sql`select ${allColumns('orphan_volumes', 's')}, h.name as host_name from orphan_volumes s join hosts h on h.id = s.host_id order by s.first_seen_at, s.host_id, s.kind, s.id`,
  )

/** A FAILED row has no data. Volumes of a VM with an open run, and of an unmanaged VM, are not orphans. */
const isBusy = hasOpenRun(sql`f.vm_id`)
/** Of a guest that proves a backup: its own reconciler removes it. */
const isProof = (hostId: string) => sql`exists (select from backup_proofs p where p.id = f.vm_id and p.host_id = ${hostId})`
const isOfRescue = sql`exists (select from vm_rescues e where e.vm_id = f.vm_id and e.generation = f.generation)`
const isKnown = (hostId: string) => sql`case f.kind
  when 'template' then exists (select from os_templates t where t.id = f.id) or exists (select from images i where i.id = f.id)
  when 'iso' then exists (select from images i where i.id = f.id)
  when 'snapshot' then (v.id is not null and exists (select from snapshots s where s.id = f.id and s.vm_id = f.vm_id and s.status <> 'FAILED'))
    or exists (select from volume_snapshots s join volumes o on o.id = s.volume_id
      where s.id = f.id and o.id = f.vm_id and o.host_id = ${hostId} and s.status <> 'FAILED')
  when 'backup' then exists (select from backups b where b.id = f.id and b.vm_id = f.vm_id and b.host_id = ${hostId} and b.status <> 'FAILED')
  when 'volume' then exists (select from volumes o
    where o.id = f.id and o.host_id = ${hostId} and (o.generation = f.generation or o.run_id is not null))
  when 'disk' then v.generation = f.generation or ${isOfRescue}
  when 'seed' then v.generation = f.generation or ${isOfRescue}
  else false end`

/** Records which volumes are orphans and when each was first seen. Volumes without our naming scheme belong to the operator. */
export const recordOrphans = (db: Queries, now: Date, hostId: string, volumes: Volume[]) =>
  db.run(sql`
    insert into orphan_volumes (host_id, kind, id, vm_id, generation, size_bytes, is_old_disk, first_seen_at, last_seen_at)
    select ${hostId}, f.kind, f.id, f.vm_id, f.generation, f.size_bytes, v.id is not null and f.kind in ('disk', 'seed'), ${now}, ${now}
    from unnest(${volumes.map((each) => each.kind)}::text[], ${volumes.map((each) => each.id)}::text[], ${volumes.map((each) => each.vmId)}::text[],
      ${volumes.map((each) => each.generation ?? 0)}::int[], ${volumes.map((each) => each.sizeBytes)}::int8[]) as f(kind, id, vm_id, generation, size_bytes)
    left join vms v on v.id = f.vm_id and v.host_id = ${hostId}
    where f.kind <> 'unknown' and not coalesce(${isKnown(hostId)}, false) and v.status is distinct from 'UNMANAGED' and not ${isBusy} and not ${isProof(hostId)}
    on conflict (host_id, kind, id, generation) do update
      set vm_id = excluded.vm_id, size_bytes = excluded.size_bytes, is_old_disk = excluded.is_old_disk, last_seen_at = excluded.last_seen_at`)

/** Deletes orphans not seen by the check that started at `since`: they were removed or have a row by now. */
export const forgetUnseen = (db: Queries, hostId: string, since: Date) =>
  db.run(sql`delete from orphan_volumes where host_id = ${hostId} and last_seen_at < ${since}`)

export const forgetStray = (db: Queries, { host_id, kind, id, generation }: OrphanVolumeRow) =>
  db.run(sql`delete from orphan_volumes where host_id = ${host_id} and kind = ${kind} and id = ${id} and generation = ${generation}`)

/** Orphans whose quarantine is over, youngest first, so that an increment precedes the backup it depends on. */
export const expiredOrphans = (db: Queries, hostId: string, before: { oldDisks: Date; orphans: Date }) =>
  db.many<OrphanVolumeRow>(sql`
    select ${allColumns('orphan_volumes')} from orphan_volumes where host_id = ${hostId}
      and first_seen_at <= case when is_old_disk then ${before.oldDisks}::timestamptz else ${before.orphans}::timestamptz end
    order by id desc`)
