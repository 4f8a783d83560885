// Host capacity, addresses and quotas are counted correctly: nothing is allocated twice or leaked.
import { sql } from '../kernel/database/db.ts'
import { invariant, type Invariant } from './invariant.ts'
import { isBusy } from './workflows.ts'

const hasNotMoved = sql`
  (r.status in ('PENDING', 'RUNNING') or r.compensating) and not exists (
    select from workflow_steps s where s.run_id = r.id and s.name = 'move' and (s.status = 'COMPLETED' or s.result @> '{"isSettled": true}'))`

/** An evacuating VM has capacity reserved on both hosts until the run has ended, one that is migrated until it has arrived. */
const reservedCapacity = sql`
  select host_id, case when dedicated_cpu then 0 else vcpu end as vcpu, ram_mib, case when storage_id is null then disk_gib else 0 end as disk_gib from vms union all
  select r.input -> 'placeBefore' ->> 'host_id', case when v.dedicated_cpu then 0 else v.vcpu end, v.ram_mib, case when v.storage_id is null then v.disk_gib else 0 end from workflow_runs r join vms v on v.id = r.subject_id
  where (r.status in ('PENDING', 'RUNNING') or r.compensating) union all
  select r.input ->> 'destinationId', case when coalesce(r.input -> 'size' ? 'dedicatedFor', v.dedicated_cpu) then 0
      else coalesce((r.input -> 'size' ->> 'vcpu')::int, v.vcpu) end, coalesce((r.input -> 'size' ->> 'ramMiB')::int, v.ram_mib),
    coalesce((r.input -> 'size' ->> 'diskGiB')::int, case when v.storage_id is null then v.disk_gib else 0 end)
  from workflow_runs r left join vms v on v.id = r.subject_id
  where r.name in ('vm.migrate', 'vm.resize_elsewhere') and ${hasNotMoved} union all
  select host_id, vcpu, ram_mib, disk_gib from backup_proofs`

/** What the size of a VM that is resized on another host gets when it has arrived there. */
const growth = sql`
  select v.account_id, v.storage_id, (r.input -> 'more' ->> 'vcpu')::int as vcpu, (r.input -> 'more' ->> 'ramMiB')::int as ram_mib,
    (r.input -> 'more' ->> 'diskGiB')::int as disk_gib
  from workflow_runs r join vms v on v.id = r.subject_id where r.name = 'vm.resize_elsewhere' and ${hasNotMoved}`

const sizes = sql`
  (select account_id, storage_id, vcpu, ram_mib, disk_gib from vms union all select account_id, storage_id, vcpu, ram_mib, disk_gib from (${growth}) g) sized`

/** A backup that is made on one host for another has room reserved on both. */
const copies = sql`
  select host_id, counted_gib from snapshots union all select host_id, counted_gib from backups
  union all select staging_host_id, counted_gib from backups union all select host_id, size_gib from volumes
  union all select o.host_id, s.counted_gib from volume_snapshots s join volumes o on o.id = s.volume_id
  union all select staging_host_id, staging_gib from images union all select host_id, gib from image_rooms
  union all select host_id, gib from restore_rooms union all select host_id, gib from vm_rescues`

const capacity = invariant(
  'hosts.capacity',
  'The capacity reserved on a host is the sum of its VMs, snapshots, backups, images, volumes, restores, rescues and guests that prove backups',
  () => sql`
    select h.id, format('host %s counts %s vCPU, %s MiB, %s GiB; its VMs have %s, %s, %s with their copies', h.name, h.vcpu_used, h.ram_used_mib,
      h.disk_used_gib, coalesce(v.vcpu, 0), coalesce(v.ram, 0), coalesce(v.disk, 0) + coalesce(c.gib, 0)) as what
    from hosts h left join (
      select host_id, sum(vcpu) as vcpu, sum(ram_mib) as ram, sum(disk_gib) as disk from (${reservedCapacity}) each group by host_id) v on v.host_id = h.id
      left join (select host_id, sum(counted_gib) as gib from (${copies}) each group by host_id) c on c.host_id = h.id
    where (h.vcpu_used, h.ram_used_mib, h.disk_used_gib)
      is distinct from (coalesce(v.vcpu, 0), coalesce(v.ram, 0), coalesce(v.disk, 0) + coalesce(c.gib, 0))`,
)

/** A VM that moves has CPUs of both hosts, as with other capacity. */
const wantedPins = sql`
  select host_id, id as vm_id, vcpu from vms where dedicated_cpu and host_id is not null union all
  select r.input -> 'placeBefore' ->> 'host_id', v.id, v.vcpu from workflow_runs r join vms v on v.id = r.subject_id
  where (r.status in ('PENDING', 'RUNNING') or r.compensating) and v.dedicated_cpu and r.input -> 'placeBefore' ->> 'host_id' is not null union all
  select r.input ->> 'destinationId', r.input -> 'size' ->> 'dedicatedFor', (r.input -> 'size' ->> 'vcpu')::int from workflow_runs r
  where (r.status in ('PENDING', 'RUNNING') or r.compensating) and r.name in ('vm.migrate', 'vm.resize_elsewhere') and r.input -> 'size' ? 'dedicatedFor' and not exists (
    select from workflow_steps s where s.run_id = r.id and s.name = 'move' and (s.status = 'COMPLETED' or s.result @> '{"isSettled": true}'))`

const pins = invariant(
  'hosts.cpus',
  'Each vCPU of a VM with dedicated CPUs has one of its host, all of one NUMA node, and nobody else has any',
  () => sql`
    select coalesce(w.vm_id, p.vm_id) as id, format('VM %s has %s CPUs of host %s, and should have %s', coalesce(w.vm_id, p.vm_id), coalesce(p.cpus, 0),
      coalesce(w.host_id, p.host_id), coalesce(w.vcpu, 0)) as what
    from (${wantedPins}) w full join (select host_id, vm_id, count(*) as cpus from cpu_pins group by 1, 2) p on p.host_id = w.host_id and p.vm_id = w.vm_id
    where coalesce(w.vcpu, 0) <> coalesce(p.cpus, 0)
    union all
    select p.vm_id, format('VM %s has CPUs of host %s that are not dedicated, or of %s NUMA nodes', p.vm_id, h.name, count(distinct coalesce(h.cpu_nodes[p.cpu + 1], 0)))
    from cpu_pins p join hosts h on h.id = p.host_id group by p.vm_id, h.id
    having bool_or(p.cpu <> all(h.dedicated_cpus)) or count(distinct coalesce(h.cpu_nodes[p.cpu + 1], 0)) > 1`,
)

const storage = invariant(
  'storage.capacity',
  'The room booked in a storage backend is the sum of its disks, snapshots, images, volumes, restores and rescues',
  () => sql`
    select s.id, format('storage backend %s counts %s GiB; its VMs have %s with their snapshots and images', s.name, s.used_gib, coalesce(b.gib, 0)) as what
    from storage_backends s left join (
      select storage_id, sum(gib) as gib from (
        select storage_id, disk_gib as gib from ${sizes} union all select storage_id, counted_gib from snapshots
        union all select storage_id, size_gib from volumes
        union all select o.storage_id, s.counted_gib from volume_snapshots s join volumes o on o.id = s.volume_id
        union all select storage_id, gib from image_storage_rooms union all select storage_id, gib from restore_rooms
        union all select storage_id, gib from vm_rescues) each group by storage_id) b
      on b.storage_id = s.id
    where s.used_gib <> coalesce(b.gib, 0)`,
)

const restores = invariant(
  'restores.room',
  'Room is booked for a restore only while its run is open',
  () => sql`
    select r.run_id as id, format('run %s has %s GiB booked', r.run_id, r.gib) as what from restore_rooms r
    where not exists (select from workflow_runs o where o.id = r.run_id and (o.status in ('PENDING', 'RUNNING') or o.compensating))`,
)

const rescues = invariant(
  'rescues.room',
  'Room is booked for a rescue where the disk of its VM is, and only while the VM is in rescue or on its way there',
  () => sql`
    select e.vm_id as id, format('VM %s has %s GiB booked for a rescue on %s', v.name, e.gib, coalesce(e.host_id, e.storage_id)) as what
    from vm_rescues e join vms v on v.id = e.vm_id
    where e.storage_id is distinct from v.storage_id or (e.storage_id is null and e.host_id is distinct from v.host_id) or (e.started_at is null and not ${isBusy})`,
)

const held = invariant(
  'addresses.held',
  'A provisioned VM has a public address, one that failed to provision has none',
  () => sql`
    select v.id, format('VM %s is %s and holds %s', v.name, v.status, coalesce(host(v.ip_address), host(v.ipv6_address), 'no address')) as what from vms v
    where (coalesce(v.ip_address, v.ipv6_address) is not null) <> (v.provisioned or ${isBusy})`,
)

const usable = invariant(
  'addresses.usable',
  'A public address comes from an IP pool of its host and is not listed as free',
  () => sql`
    select v.id, format('VM %s on host %s has %s of pool %s', v.name, h.name, host(v.ip_address), p.cidr) as what
    from vms v join hosts h on h.id = v.host_id left join address_pools p on p.id = v.address_pool_id
    where v.ip_address is not null and (p.id is null or not v.ip_address << p.cidr or v.ip_address = p.gateway
      or coalesce(p.host_id <> v.host_id, p.region_id <> h.region_id)
      or exists (select from free_addresses f where f.address = v.ip_address))`,
)

const complete = invariant(
  'addresses.complete',
  'Every address of an IP pool is free, assigned to a VM or reserved by an account',
  () => sql`
    select p.id, format('pool %s has %s addresses, %s of them free, %s on VMs and %s reserved', p.cidr, size.count, free.count, used.count, reserved.count) as what
    from address_pools p,
      lateral (select (1::int8 << (32 - least(masklen(p.cidr), 32))) - 2
        - (p.gateway > host(p.cidr)::inet and p.gateway < host(broadcast(p.cidr))::inet)::int as count) size,
      lateral (select count(*) from free_addresses f where f.pool_id = p.id) free,
      lateral (select count(*) from vms v where v.address_pool_id = p.id) used,
      lateral (select count(*) from addresses a where a.pool_id = p.id) reserved
    where family(p.cidr) = 4 and size.count <> free.count + used.count + reserved.count`,
)

const floating = invariant(
  'addresses.floating',
  'A floating address is of a pool of its region, and only on a VM of its account there; no move is left unfinished',
  () => sql`
    select a.id, format('address %s of account %s is on VM %s, and may be on %s', host(a.address), a.account_id, a.vm_id, a.releasing_vm_id) as what
    from addresses a join address_pools p on p.id = a.pool_id left join vms v on v.id = a.vm_id
    where not a.address << p.cidr or a.address = p.gateway or p.region_id <> a.region_id
      or exists (select from free_addresses f where f.address = a.address) or exists (select from vms o where o.ip_address = a.address)
      or (v.id is not null and (v.account_id <> a.account_id or v.region_id <> a.region_id))
      or (a.releasing_vm_id is not null and not exists (select from workflow_runs r where r.subject_id = a.id
        and (r.status in ('PENDING', 'RUNNING') or r.compensating)))`,
  { settle: '5m' },
)

const usableIpv6 = invariant(
  'addresses.usable_ipv6',
  'An IPv6 address comes from an IP pool of its host: a single one, or a /64 of a pool that is larger',
  () => sql`
    select v.id, format('VM %s on host %s has %s of pool %s', v.name, h.name, coalesce(v.ipv6_prefix::text, host(v.ipv6_address)), p.cidr) as what
    from vms v join hosts h on h.id = v.host_id left join address_pools p on p.id = v.ipv6_pool_id
    where v.ipv6_address is not null and (p.id is null or not v.ipv6_address << p.cidr
      or p.gateway <<= coalesce(v.ipv6_prefix, v.ipv6_address) or coalesce(p.host_id <> v.host_id, p.region_id <> h.region_id)
      or (masklen(p.cidr) < 64) is distinct from (coalesce(masklen(v.ipv6_prefix), 128) = 64))`,
)

const heldIpv6 = invariant(
  'addresses.held_ipv6',
  'Every IPv6 range in use belongs to one VM, and no VM has another',
  () => sql`
    select coalesce(v.id, r.range::text) as id, format('range %s of VM %s is %s', coalesce(r.range, v.range), coalesce(v.name, 'none'),
      case when r.range is null then 'free or resting' else 'in use' end) as what
    from (select id, name, coalesce(ipv6_prefix, ipv6_address::cidr) as range from vms where ipv6_address is not null) v
      full join (select range from ipv6_ranges where available_at is null) r on r.range = v.range
    where v.id is null or r.range is null`,
)

/** A constraint of the table keeps intervals of an address apart. */
const recorded = invariant(
  'addresses.history',
  'The history says of every public address that a VM has that it has it, and of no other',
  () => sql`
    select coalesce(w.vm_id, h.vm_id) as id, format('VM %s %s %s since %s', coalesce(w.vm_id, h.vm_id),
      case when w.vm_id is null then 'has not, but is said to have' else 'has, and is not said to have' end, coalesce(w.address, h.address), h.since) as what
    from (select id as vm_id, ip_address as address, null as address_id from vms where ip_address is not null
        union all select id, coalesce(ipv6_prefix, ipv6_address::cidr)::inet, null from vms where ipv6_address is not null
        union all select v.id, a.address, a.id from addresses a join vms v on v.id = coalesce(a.releasing_vm_id, a.vm_id)) w
      full join (select vm_id, address, address_id, since from address_history where until is null) h
        on h.vm_id = w.vm_id and h.address = w.address and h.address_id is not distinct from w.address_id
    where w.vm_id is null or h.vm_id is null`,
  { settle: '30m' }, // a reconciler records what a process of the version before has changed
)

const holdings = sql`
  select payer_account_id as account_id, 'projects' as name, count(*) as used from accounts where payer_account_id is not null and deleted_at is null group by 1
  union all select account_id, 'vms', count(*) from vms group by 1
  union all select account_id, 'vcpu', sum(vcpu) from ${sizes} group by 1
  union all select account_id, 'ram_mib', sum(ram_mib) from ${sizes} group by 1
  union all select account_id, 'disk_gib', sum(disk_gib) from ${sizes} group by 1
  union all select account_id, 'copies_gib', sum(counted_gib) from (
    select account_id, counted_gib from snapshots union all select account_id, counted_gib from backups where not is_tombstone
    union all select account_id, locked_gib from backup_repositories where account_id is not null
    union all select o.account_id, s.counted_gib from volume_snapshots s join volumes o on o.id = s.volume_id where o.deleted_at is null) c group by 1
  union all select account_id, 'networks', count(*) from networks where deleted_at is null group by 1
  union all select account_id, 'addresses', count(*) from (
    select account_id from addresses union all select account_id from free_addresses where account_id is not null) a group by 1
  union all select account_id, 'images', count(*) from images where status <> 'DELETING' group by 1
  union all select account_id, 'image_storage_gib', sum(counted_gib) from images group by 1
  union all select account_id, 'volumes', count(*) from volumes where deleted_at is null group by 1
  union all select account_id, 'volume_storage_gib', sum(size_gib) from volumes where deleted_at is null group by 1
  union all select account_id, 'firewalls', count(*) from firewalls group by 1
  union all select account_id, 'alerts', count(*) from alerts group by 1
  union all select account_id, 'placement_groups', count(*) from placement_groups group by 1
  union all select account_id, 'ssh_keys', count(*) from ssh_keys group by 1
  union all select account_id, 'tokens', count(*) from api_tokens group by 1
  union all select account_id, 'webhooks', count(*) from webhooks where deleted_at is null group by 1
  union all select account_id, 'open_tickets', count(*) from tickets where status <> 'CLOSED' group by 1`

const counted = invariant(
  'quotas.counted',
  'Quota usage matches the resources of the account and its projects',
  () => sql`
    select account_id as id, format('%s: %s counted, %s there', name, coalesce(q.used, 0), coalesce(h.used, 0)) as what
    from (select coalesce(a.payer_account_id, a.id) as account_id, h.name, sum(h.used) as used
      from (${holdings}) h join accounts a on a.id = h.account_id group by 1, 2) h full join account_quotas q using (account_id, name) where coalesce(q.used, 0) <> coalesce(h.used, 0)`,
)

/** An operator may lower the limit of one account below its usage; the catalog's limits apply to all others. */
const kept = invariant(
  'quotas.kept',
  'No account exceeds the limits of the catalog',
  () => sql`
    select q.account_id as id, format('%s: %s of %s', q.name, q.used, n.value) as what
    from account_quotas q join catalog_values n on n.name = 'quota.' || q.name where q.limit_override is null and q.used > n.value
      and q.name <> 'copies_gib' -- copies made before they counted may exceed it
    union all
    select s.vm_id, format('snapshots of VM %s: %s of %s', s.vm_id, count(*), n.value)
    from snapshots s join catalog_values n on n.name = 'quota.snapshots_per_vm'
      join accounts a on a.id = s.account_id left join account_quotas q on q.account_id = coalesce(a.payer_account_id, a.id) and q.name = 'snapshots_per_vm'
    where q.limit_override is null group by s.vm_id, n.value having count(*) > n.value
    union all
    select o.id, format('snapshots of volume %s: %s of %s', o.id, count(*), n.value)
    from volume_snapshots s join volumes o on o.id = s.volume_id join catalog_values n on n.name = 'quota.snapshots_per_volume'
      join accounts a on a.id = o.account_id left join account_quotas q on q.account_id = coalesce(a.payer_account_id, a.id) and q.name = 'snapshots_per_volume'
    where q.limit_override is null group by o.id, n.value having count(*) > n.value`,
)

export const capacityInvariants: Invariant[] = [
  capacity,
  pins,
  storage,
  restores,
  rescues,
  held,
  usable,
  complete,
  floating,
  usableIpv6,
  heldIpv6,
  recorded,
  counted,
  kept,
]
