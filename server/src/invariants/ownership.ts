// Related resources have the same account and place.
import { sql } from '../kernel/database/db.ts'
import { invariant, type Invariant } from './invariant.ts'
import { isBusy } from './workflows.ts'

const attachments = invariant(
  'networks.owner',
  'A private network is attached to VMs of its own account in its own region',
  () => sql`
    select a.network_id as id, format('network %s of %s in region %s is attached to VM %s of %s in region %s', n.name, n.account_id, n.region_id,
      a.vm_id, coalesce(v.account_id, 'nobody'), coalesce(v.region_id, 'none')) as what
    from network_attachments a join networks n on n.id = a.network_id left join vms v on v.id = a.vm_id
    where v.id is null or v.account_id <> n.account_id or a.account_id <> n.account_id or v.region_id <> n.region_id or n.deleted_at is not null`,
)

const addresses = invariant(
  'networks.addresses',
  "A private address lies inside its network and is nobody else's",
  () => sql`
    select a.network_id as id, format('VM %s has %s in %s, whose gateway is %s', a.vm_id, host(a.address), n.cidr,
      coalesce(host(n.gateway), 'none')) as what
    from network_attachments a join networks n on n.id = a.network_id
    where not a.address << n.cidr or a.address = n.gateway or host(a.address) in (host(n.cidr), host(broadcast(n.cidr)))`,
)

const routes = invariant(
  'networks.routes',
  "A route leads out of its network by one of its machines, and into no other network of the account's in the region",
  () => sql`
    select r.id, format('network %s (%s) routes %s to %s', n.name, n.cidr, r.destination, host(r.next_hop)) as what
    from network_routes r join networks n on n.id = r.network_id
    where not r.next_hop << n.cidr or r.next_hop = n.gateway or n.gateway is null or (n.deleted_at is null and exists (
      select from networks o where o.account_id = n.account_id and o.region_id = n.region_id and o.deleted_at is null and o.cidr && r.destination))`,
)

/** The keys of the table see to account and region. */
const peerings = invariant(
  'networks.peerings',
  'Peers exist, have a gateway each, and do not overlap',
  () => sql`
    select p.id, format('networks %s (%s) and %s (%s) are peers', n.name, n.cidr, o.name, o.cidr) as what
    from network_peerings p join networks n on n.id = p.network_id join networks o on o.id = p.peer_id
    where n.gateway is null or o.gateway is null or n.cidr && o.cidr or n.deleted_at is not null or o.deleted_at is not null`,
)

const bindings = invariant(
  'firewalls.owner',
  'A firewall is bound to VMs of its own account',
  () => sql`
    select b.firewall_id as id, format('firewall %s of %s is bound to VM %s of %s', f.name, f.account_id, b.vm_id,
      coalesce(v.account_id, 'nobody')) as what
    from firewall_bindings b join firewalls f on f.id = b.firewall_id left join vms v on v.id = b.vm_id
    where v.id is null or v.account_id <> f.account_id or b.account_id <> f.account_id`,
)

const keys = invariant(
  'ssh_keys.owner',
  'An SSH key is installed on VMs of its own account',
  () => sql`
    select u.ssh_key_id as id, format('key %s of %s was given to VM %s of %s', k.name, k.account_id, u.vm_id,
      coalesce(v.account_id, 'nobody')) as what
    from ssh_key_uses u join ssh_keys k on k.id = u.ssh_key_id left join vms v on v.id = u.vm_id
    where v.id is null or v.account_id <> k.account_id`,
)

const groups = invariant(
  'placement_groups.members',
  'A placement group has VMs of its own account; those of STRICT_SPREAD are on different hosts',
  () => sql`
    select g.id, format('placement group %s of %s has VM %s of %s', g.name, g.account_id, v.id, v.account_id) as what
    from placement_group_members m join placement_groups g on g.id = m.group_id join vms v on v.id = m.vm_id where v.account_id <> g.account_id
    union all
    select g.id, format('placement group %s has %s VMs on host %s', g.name, count(*), v.host_id)
    from placement_group_members m join placement_groups g on g.id = m.group_id join vms v on v.id = m.vm_id
    where g.policy = 'STRICT_SPREAD' and v.host_id is not null group by g.id, v.host_id having count(*) > 1`,
)

const alerts = invariant(
  'alerts.firings',
  'An alert fires for VMs of its own account, for what is measured of VMs, and else for the account',
  () => sql`
    select a.id, format('alert %s of %s fires for %s of %s', a.name, a.account_id, coalesce(v.id, 'the account'), coalesce(v.account_id, 'none')) as what
    from alert_firings f join alerts a on a.id = f.alert_id left join vms v on v.id = f.vm_id
    where f.resolved_at is null and (v.account_id <> a.account_id or (f.vm_id = '') <> (a.metric = 'balanceDays'))`,
)

const copies = invariant(
  'copies.owner',
  'A snapshot or backup belongs to the account of its VM',
  () => sql`
    select s.id, format('snapshot %s of %s is of VM %s of %s', s.name, s.account_id, v.id, v.account_id) as what
    from snapshots s join vms v on v.id = s.vm_id where s.account_id <> v.account_id
    union all
    select b.id, format('backup %s of %s is of VM %s of %s', b.name, b.account_id, v.id, v.account_id)
    from backups b join vms v on v.id = b.vm_id where b.account_id <> v.account_id`,
)

const images = invariant(
  'images.owner',
  'An image that is available is a template of its account or an ISO image, and is used by VMs of its account alone',
  () => sql`
    select coalesce(i.id, t.id) as id, format('image %s of %s is %s, and its template is of %s', i.name, i.account_id, i.status, coalesce(t.account_id, 'nobody')) as what
    from images i full join (select id, account_id from os_templates where account_id is not null) t on t.id = i.id
    where (i.status = 'AVAILABLE' and i.kind = 'DISK') is distinct from (t.id is not null) or t.account_id <> i.account_id
    union all
    select v.id, format('VM %s of %s is made from an image of %s', v.name, v.account_id, t.account_id)
    from vms v join os_templates t on t.id = v.os_template_id where t.account_id <> v.account_id
    union all
    select v.id, format('VM %s of %s has image %s of %s in its drive, a %s that is %s', v.name, v.account_id, i.name, i.account_id, i.kind, i.status)
    from vm_isos s join vms v on v.id = s.vm_id join images i on i.id = s.image_id
    where v.account_id <> i.account_id or i.kind <> 'ISO' or i.status <> 'AVAILABLE'`,
)

const volumes = invariant(
  'volumes.owner',
  'A volume is attached to a VM of its own account and region that can reach it; one that changes has an action',
  () => sql`
    select o.id, format('volume %s of %s is %s with VM %s of %s', o.name, o.account_id, o.status, o.vm_id, coalesce(v.account_id, 'nobody')) as what
    from volumes o left join vms v on v.id = o.vm_id left join storage_backends s on s.id = o.storage_id
    where (v.id is not null and (v.account_id <> o.account_id or v.region_id <> o.region_id or coalesce(o.host_id <> o.vm_host_id, false)))
      or s.region_id <> o.region_id
      or (o.status in ('ATTACHING', 'DETACHING') and o.run_id is null)
      or (o.run_id is not null and not exists (select from workflow_runs r where r.id = o.run_id
        and (r.status in ('PENDING', 'RUNNING') or r.compensating)))`,
)

const ports = invariant(
  'ports.tracked',
  'Every VM on a host has tracked ports, and nothing else has',
  () => sql`
    select coalesce(v.id, p.vm_id) as id, format('VM is on host %s, its ports are looked after on %s', coalesce(v.host_id, 'none'),
      coalesce(p.host_id, 'none')) as what
    from (select id, host_id, account_id from vms where host_id is not null) v full join vm_ports p on p.vm_id = v.id
    where p.vm_id is null or p.host_id <> v.host_id or p.account_id <> v.account_id
      or (v.id is null and (p.is_managed or not exists (select from vms o where o.id = p.vm_id)))`,
)

const applied = invariant(
  'ports.applied',
  'Changes of firewalls and limits are applied',
  () => sql`
    select p.vm_id as id, format('version %s is desired, %s is applied: %s', p.desired_version, coalesce(p.applied_version::text, 'none'),
      coalesce(p.error, 'it was not tried')) as what
    from vm_ports p join hosts h on h.id = p.host_id join vms v on v.id = p.vm_id
    where (p.is_managed or v.provisioned) and (not p.is_managed or p.applied_version is distinct from p.desired_version)
      and h.unreachable_since is null and v.status <> 'UNMANAGED' and v.shelved_at is null and not ${isBusy}`,
  { settle: '2m' },
)

export const ownershipInvariants: Invariant[] = [
  attachments,
  addresses,
  routes,
  peerings,
  bindings,
  keys,
  groups,
  alerts,
  copies,
  images,
  volumes,
  ports,
  applied,
]
