// Interfaces of machines, and the ports and networks of regions, match the database.
import { sql, type Sql } from '../kernel/database/db.ts'
import { hostInvariant, invariant, regionInvariant, type Invariant } from './invariant.ts'
import { machinesOf, networksOf, portsOf, type Region } from './inventory.ts'
import { isBusy, isWorkedOn } from './workflows.ts'

/** Whether this interface of the VM `v` is about to be detached, because its host was lost meanwhile. */
const isStaleNic = (mac: Sql): Sql =>
  sql`exists (select from stale_nics l where l.host_id = v.host_id and l.vm_id = v.id and l.mac::text = ${mac})`

const attached = hostInvariant(
  'nics.attached',
  'A machine has its public interface, one per private network, and no other',
  (host) => sql`
    select v.id, format('VM %s should have %s, its machine has %s', v.name, wanted.nics, real.nics) as what
    from ${machinesOf(host)} join vms v on v.id = m."vmId" and v.host_id = ${host.id},
      lateral (select array_agg(mac order by mac) as nics from (
        select v.mac::text as mac union all select a.mac::text from network_attachments a where a.vm_id = v.id) each) wanted,
      lateral (select array_agg(nic ->> 'mac' order by nic ->> 'mac') as nics
        from jsonb_array_elements(m.nics) nic where not ${isStaleNic(sql`nic ->> 'mac'`)}) real
    where wanted.nics is distinct from real.nics and v.status <> 'UNMANAGED' and not ${isBusy}`,
)

/** Only simulated hosts report leases; others have no rows here. */
const leases = invariant(
  'nics.leases',
  'A machine leases the address assigned to it',
  () => sql`
    select v.id, format('%s of VM %s gets %s instead of %s', n.mac, v.name, concat_ws(' and ', n.address, n.ipv6), concat_ws(' and ', host(wanted.address), wanted.ipv6)) as what
    from simulated.nics n join vms v on v.id = n.machine and v.host_id = n.host_id
      left join network_attachments a on a.vm_id = v.id and a.mac::text = n.mac,
      lateral (select case when n.kind = 'public' then v.ip_address else a.address end as address, case when n.kind = 'public' then host(v.ipv6_address) end as ipv6) wanted
    where (host(wanted.address), wanted.ipv6) is distinct from (n.address, n.ipv6) and v.status <> 'UNMANAGED' and not ${isBusy} and not ${isStaleNic(sql`n.mac`)}`,
  { settle: '60s' },
)

/** Of the VMs `v` that have a place in the region. */
const interfaces = ({ id }: Region): Sql => sql`
  vms v join hosts h on h.id = v.host_id and v.region_id = ${id},
    lateral (
      select v.mac, null::text as network_id, 'public' as what,
        case when v.throttled_at is not null then v.throttle_mbps when v.network_10g then 10000 else v.network_mbps end as mbps
      union all select a.mac, a.network_id, a.network_id, null from network_attachments a where a.vm_id = v.id) i`

const ports = regionInvariant(
  'ports.present',
  'Every interface of a VM has its port, on its host, in its network and with its limit',
  (region) => sql`
    select v.id, format('%s of VM %s should be %s on %s at %s Mbit/s, its port is %s', i.mac, v.name, i.what, h.hostname, coalesce(i.mbps::text, 'any'),
      case when p.mac is null then 'missing' else concat_ws(' ', coalesce(p."networkId", 'public'), 'on', p.host, 'at', coalesce(p."limitMbps"::text, 'any')) end) as what
    from ${interfaces(region)} left join ${portsOf(region)} on p.mac = i.mac
    where (p.mac is null or (h.hostname, i.network_id, i.mbps) is distinct from (p.host, p."networkId", p."limitMbps"))
      and v.provisioned and v.status <> 'UNMANAGED' and h.unreachable_since is null and not ${isBusy}`,
  { settle: '2m' },
)

const portsKnown = regionInvariant(
  'ports.known',
  'Every port belongs to an interface of a VM of its region',
  (region) => sql`
    select p.mac::text as id, format('region %s has a port of VM %s, which has no such interface', ${region.slug}::text, coalesce(p."vmId", 'none')) as what
    from ${portsOf(region)} where p.mac not in (select i.mac from ${interfaces(region)}) and not ${isWorkedOn(sql`p."vmId"`)}`,
  { settle: '2m' },
)

const networks = regionInvariant(
  'networks.present',
  'The networks of a region match the database',
  (region) => sql`
    select coalesce(n.id, w."networkId") as id, format('network %s %s', coalesce(n.name, w."networkId"),
      case when n.id is null then 'is not known' else 'is missing' end) as what
    from (select id, name, is_applied, deleted_at from networks where region_id = ${region.id}) n full join ${networksOf(region)} on w."networkId" = n.id
    where n.id is null or (n.is_applied and n.deleted_at is null and w."networkId" is null)`,
  { settle: '2m' },
)

const networksApplied = regionInvariant(
  'networks.applied',
  'A network exists in its region, and a deleted one does not',
  (region) => sql`
    select n.id, format('network %s is %s', n.name, case when n.deleted_at is null then 'not made yet' else 'not removed yet' end) as what
    from networks n where n.region_id = ${region.id} and (not n.is_applied or n.deleted_at is not null)`,
  { settle: '2m' },
)

export const networkingInvariants: Invariant[] = [attached, leases, ports, portsKnown, networks, networksApplied]
