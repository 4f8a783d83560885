// Related resources have the same account and host.
import { sql } from '../kernel/database/db.ts'
import { invariant, type Invariant } from './invariant.ts'
import { isBusy } from './workflows.ts'

const attachments = invariant(
  'networks.owner',
  'A private network is attached to VMs of its own account on its own host',
  () => sql`
    select a.network_id as id, format('network %s of %s on host %s is attached to VM %s of %s on host %s', n.name, n.account_id, n.host_id,
      a.vm_id, coalesce(v.account_id, 'nobody'), coalesce(v.host_id, 'none')) as what
    from network_attachments a join networks n on n.id = a.network_id left join vms v on v.id = a.vm_id
    where v.id is null or v.account_id <> n.account_id or a.account_id <> n.account_id or v.host_id <> n.host_id or n.deleted_at is not null`,
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

const filters = invariant(
  'firewalls.tracked',
  'Every VM on a host has a tracked packet filter, and nothing else has',
  () => sql`
    select coalesce(v.id, f.vm_id) as id, format('VM is on host %s, its filter is looked after on %s', coalesce(v.host_id, 'none'),
      coalesce(f.host_id, 'none')) as what
    from (select id, host_id, account_id from vms where host_id is not null) v full join vm_filters f on f.vm_id = v.id
    where f.vm_id is null or f.host_id <> v.host_id or f.account_id <> v.account_id
      or (v.id is null and (f.is_managed or not exists (select from vms o where o.id = f.vm_id)))`,
)

const applied = invariant(
  'firewalls.applied',
  'Firewall changes are applied on the host',
  () => sql`
    select f.vm_id as id, format('version %s is desired, the host has %s: %s', f.desired_version, coalesce(f.applied_version::text, 'none'),
      coalesce(f.error, 'it was not tried')) as what
    from vm_filters f join hosts h on h.id = f.host_id join vms v on v.id = f.vm_id
    where (f.is_managed or v.provisioned) and (not f.is_managed or f.applied_version is distinct from f.desired_version)
      and h.unreachable_since is null and v.status <> 'UNMANAGED' and not ${isBusy}`,
  { settle: '2m' },
)

const networksApplied = invariant(
  'networks.applied',
  'A network exists on its host, and a deleted one does not',
  () => sql`
    select n.id, format('network %s is %s', n.name, case when n.deleted_at is null then 'not made yet' else 'not removed yet' end) as what
    from networks n join hosts h on h.id = n.host_id
    where (not n.is_applied or n.deleted_at is not null) and h.unreachable_since is null`,
  { settle: '2m' },
)

export const ownershipInvariants: Invariant[] = [attachments, addresses, bindings, keys, copies, filters, applied, networksApplied]
