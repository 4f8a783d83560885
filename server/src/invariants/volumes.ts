// Volumes on hosts belong to a resource. Quarantined orphans are known.
import { parseDurationMs } from '../kernel/clock.ts'
import { sql } from '../kernel/database/db.ts'
import { hostInvariant, invariant, type Invariant } from './invariant.ts'
import { isStale, volumesOf } from './inventory.ts'
import { isBusy, isWorkedOn } from './workflows.ts'

const known = hostInvariant(
  'volumes.known',
  'Every volume on a host belongs to a resource',
  (host) => sql`
    select f.id, format('host %s has a %s for it (VM %s, generation %s, %s) that nothing needs', ${host.name}::text, f.kind,
      coalesce(f."vmId", 'none'), coalesce(f.generation::text, 'none'), case when f.complete then 'whole' else 'half made' end) as what
    from ${volumesOf(host)}
    where f.kind <> 'unknown' and not (f.kind in ('volume', 'snapshot') and exists (
        select from volumes o where o.id = case f.kind when 'volume' then f.id else f."vmId" end and o.run_id is not null))
      and not ${isStale(host, sql`f."vmId"`)} and not ${isWorkedOn(sql`f."vmId"`)}
      and not exists (select from orphan_volumes q
        where q.host_id = ${host.id} and q.kind = f.kind and q.id = f.id and q.generation = coalesce(f.generation, 0))
      and not (f.complete and case f.kind
        when 'snapshot' then exists (select from snapshots s join vms v on v.id = s.vm_id
          where s.id = f.id and s.vm_id = f."vmId" and s.status <> 'FAILED' and v.host_id = ${host.id})
          or exists (select from volume_snapshots s join volumes o on o.id = s.volume_id
            where s.id = f.id and o.id = f."vmId" and s.status <> 'FAILED' and o.host_id = ${host.id})
        when 'backup' then exists (select from backups b
          where b.id = f.id and b.vm_id = f."vmId" and b.status <> 'FAILED' and b.host_id = ${host.id})
        when 'template' then exists (select from os_templates t where t.id = f.id) or exists (select from images i where i.id = f.id)
        when 'iso' then exists (select from images i where i.id = f.id)
        when 'volume' then exists (select from volumes o
          where o.id = f.id and o.generation = coalesce(f.generation, 0) and o.host_id = ${host.id})
        else exists (select from vms v left join vm_rescues e on e.vm_id = v.id
          where v.id = f."vmId" and f.generation in (v.generation, e.generation) and v.host_id = ${host.id}) end)`,
)

const needed = (hostId: string) => sql`
  select v.id as vm_id, kind, v.id, v.generation, case kind when 'disk' then v.storage_id end as storage_id
  from vms v, unnest(array['disk', 'seed']) as kind
  where v.host_id = ${hostId} and v.provisioned and v.status in ('RUNNING', 'STOPPED', 'SUSPENDED') and not ${isBusy}
  union all
  select v.id, 'snapshot', s.id, null, s.storage_id from snapshots s join vms v on v.id = s.vm_id
  where v.host_id = ${hostId} and s.status = 'AVAILABLE' and not ${isBusy}
  union all
  select v.id, 'backup', b.id, null, null from backups b join vms v on v.id = b.vm_id
  where b.host_id = ${hostId} and b.status = 'AVAILABLE' and not ${isBusy}
  union all
  select null, 'volume', o.id, nullif(o.generation, 0), null from volumes o
  where o.host_id = ${hostId} and o.status = 'ATTACHED' and o.run_id is null
  union all
  select o.id, 'snapshot', s.id, null, null from volume_snapshots s join volumes o on o.id = s.volume_id
  where o.host_id = ${hostId} and s.status = 'AVAILABLE' and o.run_id is null`

/** It is paid and booked as large as its row says, and never shrinks. */
const booked = hostInvariant(
  'volumes.booked',
  'The disk of a VM is no larger than booked',
  (host) => sql`
    select v.id, format('VM %s has a disk of %s GiB booked, and one of %s bytes on host %s', v.name, v.disk_gib, f."capacityBytes", ${host.name}::text) as what
    from ${volumesOf(host)} join vms v on v.id = f."vmId" and v.host_id = ${host.id} and v.generation = f.generation
    where f.kind = 'disk' and f.complete and f."capacityBytes" > v.disk_gib * 1073741824::bigint and v.provisioned and v.status <> 'UNMANAGED'
      and not ${isBusy} and not ${isStale(host, sql`v.id`)}`,
)

const present = hostInvariant(
  'volumes.present',
  'Every VM has its disk, and every snapshot, backup and attached volume its data, where they belong',
  (host) => sql`
    select n.id, format('host %s has no %s of VM %s for it', ${host.name}::text, n.kind, n.vm_id) as what
    from (${needed(host.id)}) n
    left join ${volumesOf(host)} on f.kind = n.kind and f.id = n.id and f."vmId" is not distinct from n.vm_id and f.complete
      and (n.generation is null or f.generation = n.generation) and f."storageId" is not distinct from n.storage_id
    where f.id is null`,
)

const QUARANTINE = '25h'

const orphans = invariant(
  'volumes.orphans',
  'Orphan volumes are removed after their quarantine',
  ({ now }) => sql`
    select q.id, format('%s on host %s is quarantined since %s', q.kind, h.name, q.first_seen_at) as what
    from orphan_volumes q join hosts h on h.id = q.host_id
    where h.unreachable_since is null and q.first_seen_at < ${new Date(now.getTime() - parseDurationMs(QUARANTINE))}`,
  { settle: '2m' },
)

const orphanImages = invariant(
  'storage.orphans',
  'Orphan images are removed after their quarantine',
  ({ now }) => sql`
    select o.vm_id as id, format('storage backend %s has images of VM %s since %s', s.name, o.vm_id, o.first_seen_at) as what
    from orphan_images o join storage_backends s on s.id = o.storage_id
    where s.unreachable_since is null and o.first_seen_at < ${new Date(now.getTime() - parseDurationMs(QUARANTINE))}`,
  { settle: '30m' },
)

const shelved = invariant(
  'disks.shelved',
  'A shelved VM is on no host and its disk is stored once; no other VM has a disk stored',
  () => sql`
    select v.id, format('VM %s is shelved, on host %s, with %s stored disks', v.name, coalesce(v.host_id, 'none'), d.count) as what
    from vms v, lateral (select count(*) from shelved_disks d where d.vm_id = v.id and not d.is_unwanted and d.checksum is not null) d
    where v.shelved_at is not null and not ${isBusy}
      and (v.host_id is not null or not v.provisioned or d.count <> case v.storage when 'LOCAL' then 1 else 0 end)
    union all
    select d.id, format('the disk of VM %s is stored, which is not shelved', d.vm_id) from shelved_disks d left join vms v on v.id = d.vm_id
    where not d.is_unwanted and v.shelved_at is null and (v.id is null or not ${isBusy})`,
)

export const volumeInvariants: Invariant[] = [known, booked, present, orphans, orphanImages, shelved]
