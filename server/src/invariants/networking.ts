// Interfaces, DHCP leases, filters and networks on the hosts match the database.
import { sql, type Sql } from '../kernel/database/db.ts'
import { hostInvariant, invariant, type Invariant } from './invariant.ts'
import { filtersOf, isStale, machinesOf, networksOf } from './inventory.ts'
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
      lateral (select array_agg(mac || ' ' || network order by mac) as nics from (
        select v.mac::text as mac, 'public' as network union all
        select a.mac::text, a.network_id from network_attachments a where a.vm_id = v.id) each) wanted,
      lateral (select array_agg((nic ->> 'mac') || ' ' || coalesce(nic ->> 'networkId', 'public') order by nic ->> 'mac') as nics
        from jsonb_array_elements(m.nics) nic where not ${isStaleNic(sql`nic ->> 'mac'`)}) real
    where wanted.nics is distinct from real.nics and v.status <> 'UNMANAGED' and not ${isBusy}`,
)

/** Only simulated hosts report leases; others have no rows here. */
const leases = invariant(
  'nics.leases',
  'A machine leases the address assigned to it',
  () => sql`
    select v.id, format('%s of VM %s gets %s instead of %s', n.mac, v.name, n.address, coalesce(host(wanted.address), 'none')) as what
    from simulated.nics n join vms v on v.id = n.machine and v.host_id = n.host_id
      left join network_attachments a on a.vm_id = v.id and a.mac::text = n.mac,
      lateral (select case when n.kind = 'public' then v.ip_address else a.address end as address) wanted
    where host(wanted.address) is distinct from n.address and v.status <> 'UNMANAGED' and not ${isBusy} and not ${isStaleNic(sql`n.mac`)}`,
  { settle: '60s' },
)

/** No limit where the host cannot shape traffic. */
const speed = hostInvariant(
  'nics.speed',
  'A public interface has the bandwidth limit of its plan',
  (host) => sql`
    select v.id, format('VM %s should have %s Mbit/s, its machine has %s', v.name, wanted.mbps, coalesce(real.mbps::text, 'no limit')) as what
    from ${machinesOf(host)} join vms v on v.id = m."vmId" and v.host_id = ${host.id},
      lateral (select case when v.throttled_at is not null then v.throttle_mbps when v.network_10g then 10000 else v.network_mbps end as mbps) wanted,
      lateral (select (nic ->> 'limitMbps')::int as mbps from jsonb_array_elements(m.nics) nic where nic ->> 'mac' = v.mac::text) real
    where real.mbps is distinct from case when ${host.canShapeTraffic} then wanted.mbps end and v.status in ('RUNNING', 'STOPPED') and not ${isBusy}`,
  { settle: '10m' },
)

const filtered = hostInvariant(
  'filters.present',
  'No machine runs without its packet filter',
  (host) => sql`
    select v.id, format('VM %s runs on host %s without a filter', v.name, ${host.name}::text) as what
    from ${machinesOf(host)} join vms v on v.id = m."vmId"
    where m.power <> 'stopped' and m."vmId" not in (select f."vmId" from ${filtersOf(host)}) and v.status <> 'UNMANAGED' and not ${isBusy}`,
  { settle: '2m' },
)

const filtersKnown = hostInvariant(
  'filters.known',
  'Every packet filter on a host belongs to a VM of that host',
  (host) => sql`
    select f."vmId" as id, format('host %s has a filter for it, but %s', ${host.name}::text,
      coalesce(format('VM %s lives on %s', v.name, coalesce(v.host_id, 'no host')), 'there is no such VM')) as what
    from ${filtersOf(host)} left join vms v on v.id = f."vmId"
    where v.host_id is distinct from ${host.id} and not ${isStale(host, sql`f."vmId"`)} and not ${isWorkedOn(sql`f."vmId"`)}`,
)

const networks = hostInvariant(
  'networks.present',
  'The networks of a host match the database',
  (host) => sql`
    select coalesce(n.id, w."networkId") as id, format('network %s should be %s, host %s has %s', n.name,
      coalesce(concat_ws(' ', n.cidr, host(n.gateway), n.enable_snat, n.enable_dhcp), 'gone'), ${host.name}::text,
      coalesce(concat_ws(' ', w.cidr, w.gateway, w."enableSnat", w."enableDhcp"), 'none')) as what
    from (select id, name, cidr, gateway, enable_snat, enable_dhcp, is_applied, deleted_at from networks where host_id = ${host.id}) n full join ${networksOf(host)} on w."networkId" = n.id
    where n.id is null or (n.is_applied and n.deleted_at is null
      and (n.cidr::text, host(n.gateway), n.enable_snat, n.enable_dhcp) is distinct from (w.cidr, w.gateway, w."enableSnat", w."enableDhcp"))`,
  { settle: '2m' },
)

export const networkingInvariants: Invariant[] = [attached, leases, speed, filtered, filtersKnown, networks]
