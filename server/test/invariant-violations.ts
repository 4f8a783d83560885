// One violation of each invariant: rows that the product would never write, or a host inventory that it would never have.
import { sql, type Sql } from '../src/kernel/database/db.ts'
import type { Machine, Volume } from '../src/hypervisor/driver.ts'
import type { Port } from '../src/hypervisor/network-controller.ts'

/** Two customers with a VM each on one host; the first has a key, a firewall, a network, a snapshot, a backup and a webhook. */
export interface ViolationFixture {
  accountId: string
  otherAccountId: string
  vmId: string
  otherVmId: string
  networkId: string
  firewallId: string
  keyId: string
  snapshotId: string
  backupId: string
  webhookId: string
  /** Its inventory, which a violation may change. */
  host: {
    id: string
    name: string
    machines: Machine[]
    volumes: Volume[]
  }
  /** The same of its region. */
  region: { id: string; slug: string; networks: { networkId: string }[]; ports: Port[] }
  now: Date
}

const LONG_AGO = new Date('2001-01-01T00:00:00Z')

/** A consistent ledger entry for an inconsistent cause. */
const entry = (
  { accountId, now }: ViolationFixture,
  type: string,
  cents: number,
  vmId: string,
  projectId: string | null = null,
): Sql => sql`
  with wallet as (
    update wallets set balance_cents = balance_cents + ${cents}::int8, transaction_count = transaction_count + 1
    where account_id = ${accountId} returning account_id, balance_cents, transaction_count)
  insert into wallet_transactions (id, account_id, number, type, amount_cents, balance_after_cents, description, reference_type, reference_id, created_at,
    project_id, project_name)
  select 'planted' || transaction_count, account_id, transaction_count, ${type}, ${cents}::int8, balance_cents, '', 'VM', ${vmId}, ${now}::timestamptz,
    ${projectId}, ${projectId}
  from wallet`

const run = (
  { vmId, now }: ViolationFixture,
  row: { label?: string; status?: string; vmId?: string; at?: Date; deadline?: Date },
): Sql => sql`
  insert into workflow_runs (id, name, label, subject_id, input, status, next_attempt_at, deadline_at, created_at, completed_at)
  values ('planted', 'vm.start', ${row.label ?? 'START'}, ${row.vmId ?? vmId}, '{}', ${row.status ?? 'PENDING'}, ${row.at ?? now}, ${row.deadline ?? now},
    ${now}, ${row.status === 'COMPLETED' ? now : null})`

/** An invoice of a single entry, correct except for `wrong`. */
const invoice = ({ accountId, now }: ViolationFixture, number: number, wrong: { paid?: number }): Sql => sql`
  insert into invoices (id, account_id, number, month, first_entry, last_entry, currency, opening_cents, charged_cents, paid_cents,
    closing_cents, seller, customer, issued_at)
  select 'planted', account_id, 1, '2001-01-01', number, number, 'USD', balance_after_cents - amount_cents - ${wrong.paid ?? 0}::int8,
    case when type = 'CREDIT' then 0 else -amount_cents end, case when type = 'CREDIT' then amount_cents else 0 end + ${wrong.paid ?? 0}::int8,
    balance_after_cents, '{}', '{}', ${now} from wallet_transactions where account_id = ${accountId} and number = ${number}`

/** Booked, charged and counted, of the first VM. */
const volume = (fixture: ViolationFixture, { status }: { status: string }): Sql[] => [
  entry(fixture, 'VOLUME_CHARGE', -100, 'cplanted'),
  sql`insert into volumes (id, account_id, region_id, name, is_protected, size_gib, storage, host_id, vm_id, vm_host_id, status, renewal_day,
      period_started_at, period_price_cents, next_renewal_at, created_at, updated_at)
    select 'cplanted', account_id, region_id, '', false, 1, 'LOCAL', host_id, id, host_id, ${status}, 1, ${fixture.now}, 100,
      ${fixture.now}::timestamptz + interval '1 month', ${fixture.now}, ${fixture.now} from vms where id = ${fixture.vmId}`,
  sql`insert into volume_periods (volume_id, started_at, ends_at, transaction_id)
    select v.id, v.period_started_at, v.next_renewal_at, t.id from volumes v join wallet_transactions t on t.reference_id = v.id`,
  sql`insert into account_quotas (account_id, name, used) values (${fixture.accountId}, 'volumes', 1), (${fixture.accountId}, 'volume_storage_gib', 1)`,
  sql`update hosts set disk_used_gib = disk_used_gib + 1 where id = ${fixture.host.id}`,
]

const counted = (accountId: string): Sql[] => [
  sql`insert into account_quotas (account_id, name, used) values (${accountId}, 'projects', 1)
    on conflict (account_id, name) do update set used = account_quotas.used + 1`,
]

/** Of the first account. */
const project = ({ accountId, now }: ViolationFixture): Sql[] => [
  sql`insert into accounts (id, name, payer_account_id, created_at) values ('cproject', 'shop', ${accountId}, ${now})`,
  ...counted(accountId),
]

const machine = ({ host, vmId }: ViolationFixture) => host.machines.find((each) => each.vmId === vmId)!

export type ViolationSetup = (fixture: ViolationFixture) => Sql[]

export const violationSetups: Record<string, ViolationSetup> = {
  'wallet.balance': ({ accountId }) => [sql`update wallets set balance_cents = balance_cents + 1 where account_id = ${accountId}`],
  'wallet.running': ({ accountId }) => [
    sql`update wallet_transactions set balance_after_cents = balance_after_cents + 1 where account_id = ${accountId} and number = 1`,
  ],
  'wallet.not_negative': ({ otherAccountId }) => [
    sql`alter table wallets drop constraint wallets_balance_cents_check`,
    sql`alter table wallet_transactions drop constraint wallet_transactions_balance_after_cents_check`,
    sql`update wallet_transactions set amount_cents = amount_cents - 100000, balance_after_cents = balance_after_cents - 100000
      where account_id = ${otherAccountId} and number = 1`,
    sql`update wallet_transactions set balance_after_cents = balance_after_cents - 100000 where account_id = ${otherAccountId} and number > 1`,
    sql`update wallets set balance_cents = balance_cents - 100000 where account_id = ${otherAccountId}`,
  ],
  'charges.kept': (fixture) => [entry(fixture, 'VM_CHARGE', -100, 'cnowhere')],
  'charges.made': ({ vmId }) => [
    sql`update wallet_transactions set type = 'ADJUSTMENT' where reference_id = ${vmId} and type = 'VM_CHARGE'`,
  ],
  'charges.as_ordered': ({ vmId }) => [
    sql`update workflow_runs set input = input || '{"chargedCents": "1"}' where subject_id = ${vmId} and label = 'CREATE'`,
  ],
  'budgets.never_overdrawn': ({ accountId, vmId, now }) => [
    sql`insert into budget_entries (subject_type, subject_id, month, number, account_id, reference_id, kind, cents, used_after_cents, limit_cents, created_at)
      select 'TOKEN', 'planted', '2026-01-01', number, account_id, reference_id, 'CHARGE', -amount_cents, -amount_cents, -amount_cents - 1, ${now}
      from wallet_transactions where account_id = ${accountId} and reference_id = ${vmId} and type = 'VM_CHARGE'`,
  ],
  'budgets.holders': ({ accountId }) => [
    sql`insert into budgets (subject_type, subject_id, account_id, max_vms) values ('TOKEN', 'planted', ${accountId}, 1)`,
  ],
  'charges.refunds': (fixture) => [entry(fixture, 'VM_REFUND', 100_000, fixture.vmId)],
  'charges.first_month': (fixture) => [entry(fixture, 'VM_CHARGE', -100, fixture.vmId)],
  'ledger.causes': (fixture) => [
    entry(fixture, 'ADJUSTMENT', 100, fixture.vmId),
    sql`update wallet_transactions set reference_type = 'ADMIN' where id like 'planted%'`,
  ],
  'payments.once': ({ accountId, now }) => [
    sql`insert into payments (id, account_id, provider, status, amount_cents, received_cents, currency, transaction_id, created_at, updated_at)
      select 'planted', account_id, 'manual', 'SUCCEEDED', 1, 1, 'USD', id, ${now}, ${now} from wallet_transactions where account_id = ${accountId} limit 1`,
  ],
  'invoices.ledger': (fixture) => [invoice(fixture, 1, { paid: 1 }), sql`update invoice_counter set last_number = 1`],
  'invoices.complete': (fixture) => [invoice(fixture, 2, {}), sql`update invoice_counter set last_number = 1`],
  'invoices.numbers': () => [sql`update invoice_counter set last_number = 7`],
  'renewals.once': (fixture) => [entry(fixture, 'VM_RENEWAL', -100, fixture.vmId)],
  'renewals.addresses': (fixture) => [entry(fixture, 'ADDRESS_RENEWAL', -100, fixture.vmId)],
  'renewals.images': (fixture) => [entry(fixture, 'IMAGE_RENEWAL', -100, fixture.vmId)],
  'renewals.volumes': (fixture) => [entry(fixture, 'VOLUME_RENEWAL', -100, fixture.vmId)],
  'renewals.paid': ({ vmId }) => [sql`update vms set period_started_at = period_started_at - interval '1 hour' where id = ${vmId}`],
  'renewals.due': ({ vmId, now }) => [sql`update vms set next_renewal_at = ${now}::timestamptz - interval '1 hour' where id = ${vmId}`],
  'accounts.suspended': ({ vmId }) => [
    sql`update accounts set suspended_at = ${LONG_AGO} where id = (select account_id from vms where id = ${vmId})`,
  ],
  'projects.payer': (fixture) => [
    ...project(fixture),
    sql`insert into accounts (id, name, payer_account_id, created_at) values ('cnested', 'x', 'cproject', ${fixture.now})`,
    ...counted('cproject'),
  ],
  'projects.ledger': (fixture) => [...project(fixture), entry(fixture, 'VM_UPGRADE', -100, fixture.vmId, 'cproject')],
  'projects.suspended': (fixture) => [
    ...project(fixture),
    sql`update accounts set suspended_at = ${fixture.now} where id = ${fixture.accountId}`,
  ],
  'projects.deleted': (fixture) => [
    ...project(fixture),
    sql`update accounts set deleted_at = ${fixture.now} where id = 'cproject'`,
    sql`update account_quotas set used = 0 where account_id = ${fixture.accountId} and name = 'projects'`,
    sql`insert into ssh_keys (id, account_id, name, type, fingerprint, public_key, created_at) select 'cplanted', 'cproject', name, type, fingerprint, public_key, created_at
      from ssh_keys where id = ${fixture.keyId}`,
    sql`update account_quotas set used = used + 1 where account_id = ${fixture.accountId} and name = 'ssh_keys'`,
  ],
  'bandwidth.throttled': ({ vmId }) => [
    sql`insert into bandwidth_baselines (vm_id, mac, epoch, received_bytes, sent_bytes, tick, used_bytes) select id, mac, '', 0, 0, 0, 1e15 from vms
      where id = ${vmId} on conflict (vm_id, mac) do update set used_bytes = 1e15`,
  ],
  'bandwidth.packs': ({ vmId }) => [sql`update vms set bandwidth_pack_bytes = 1000 where id = ${vmId}`],

  'actions.deadline': (fixture) => [run(fixture, { deadline: LONG_AGO })],
  'actions.stalled': (fixture) => [run(fixture, { at: LONG_AGO })],
  'actions.journal': (fixture) => [run(fixture, { status: 'FAILED' })],
  'actions.vm_exists': (fixture) => [run(fixture, { vmId: 'cnowhere' })],
  'vms.transitional': ({ vmId }) => [sql`update vms set status = 'UPGRADING' where id = ${vmId}`],
  'copies.transitional': ({ snapshotId }) => [sql`update snapshots set status = 'CREATING' where id = ${snapshotId}`],
  'backups.proofs': ({ backupId, vmId, host, now }) => [
    sql`insert into backup_proofs (id, backup_id, vm_id, host_id, run_id, vcpu, ram_mib, disk_gib, started_at)
      values ('planted', ${backupId}, ${vmId}, ${host.id}, 'cnowhere', 0, 0, 0, ${now})`,
  ],

  'hosts.capacity': ({ host }) => [sql`update hosts set vcpu_used = vcpu_used + 1 where id = ${host.id}`],
  'hosts.cpus': ({ host }) => [sql`insert into cpu_pins (host_id, cpu, vm_id, vcpu) values (${host.id}, 0, 'cnowhere', 0)`],
  'storage.capacity': () => [addStorage(1)],
  'restores.room': ({ vmId }) => [
    sql`insert into restore_rooms (run_id, purpose, host_id, gib) select 'cnorun', 'DISK', host_id, 1 from vms where id = ${vmId}`,
    sql`update hosts set disk_used_gib = disk_used_gib + 1 where id = (select host_id from vms where id = ${vmId})`,
  ],
  'rescues.room': ({ vmId }) => [
    sql`insert into vm_rescues (vm_id, generation, template_id, gib, host_id) select id, 9, os_template_id, 1, host_id from vms where id = ${vmId}`,
    sql`update hosts set disk_used_gib = disk_used_gib + 1 where id = (select host_id from vms where id = ${vmId})`,
  ],
  'addresses.held': ({ vmId }) => [sql`update vms set provisioned = false where id = ${vmId}`],
  'addresses.usable': ({ vmId }) => [
    sql`insert into free_addresses (address, pool_id, available_at) select ip_address, address_pool_id, created_at from vms where id = ${vmId}`,
  ],
  'addresses.complete': () => [sql`delete from free_addresses where address = (select min(address) from free_addresses)`],
  'addresses.usable_ipv6': ({ vmId }) => [
    sql`insert into ipv6_ranges (range, pool_id) select '2001:db8:7::1', id from address_pools limit 1`,
    sql`update vms set ipv6_address = '2001:db8:7::1', ipv6_pool_id = address_pool_id where id = ${vmId}`,
    sql`update simulated.nics set ipv6 = '2001:db8:7::1' where machine = ${vmId} and kind = 'public'`,
  ],
  'addresses.held_ipv6': () => [sql`insert into ipv6_ranges (range, pool_id) select '2001:db8:7::1', id from address_pools limit 1`],
  'addresses.history': ({ vmId, now }) => [sql`update address_history set until = ${now} where vm_id = ${vmId}`],
  'addresses.floating': (fixture) => [
    entry(fixture, 'ADDRESS_CHARGE', -100, 'cplanted'),
    sql`with taken as (delete from free_addresses where address = (select max(address) from free_addresses) returning address, pool_id)
      insert into addresses (id, account_id, region_id, name, address, pool_id, releasing_vm_id, renewal_day, period_started_at, period_price_cents,
        next_renewal_at, created_at, updated_at)
      select 'cplanted', ${fixture.accountId}, p.region_id, '', taken.address, taken.pool_id, 'cnowhere', 1, ${fixture.now}, 100,
        ${fixture.now}::timestamptz + interval '1 month', ${fixture.now}, ${fixture.now} from taken join address_pools p on p.id = taken.pool_id`,
    sql`insert into address_periods (address_id, started_at, ends_at, transaction_id)
      select a.id, a.period_started_at, a.next_renewal_at, t.id from addresses a join wallet_transactions t on t.reference_id = a.id`,
    sql`insert into account_quotas (account_id, name, used) values (${fixture.accountId}, 'addresses', 1)`,
  ],
  'quotas.counted': ({ accountId }) => [
    sql`update account_quotas set used = used + 1 where account_id = ${accountId} and name = 'ssh_keys'`,
  ],
  'quotas.kept': () => [sql`update catalog_values set value = 0 where name = 'quota.firewalls'`],

  'networks.owner': ({ networkId, otherAccountId }) => [
    sql`update networks set account_id = ${otherAccountId} where id = ${networkId}`,
    sql`update account_quotas set used = 0 where name = 'networks'`,
    sql`insert into account_quotas (account_id, name, used) values (${otherAccountId}, 'networks', 1)`,
  ],
  'networks.addresses': ({ networkId }) => [
    sql`update network_attachments a set address = n.gateway from networks n where n.id = a.network_id and n.id = ${networkId}`,
  ],
  'networks.routes': ({ networkId }) => [
    sql`insert into network_routes (id, network_id, destination, next_hop, created_at) values ('croute', ${networkId}, '192.168.99.0/24', '192.168.98.1', now())`,
  ],
  'networks.peerings': ({ networkId }) => [
    sql`insert into networks (id, account_id, region_id, name, cidr, enable_snat, enable_dhcp, is_applied, deleted_at, created_at, updated_at)
      select 'c0', account_id, region_id, 'deleted', '10.250.0.0/24', false, false, true, now(), now(), now() from networks where id = ${networkId}`,
    sql`insert into network_peerings (id, network_id, peer_id, account_id, region_id, created_at)
      select 'cpeering', 'c0', id, account_id, region_id, now() from networks where id = ${networkId}`,
  ],
  'firewalls.owner': ({ firewallId, otherVmId, accountId }) => [
    sql`insert into firewall_bindings (firewall_id, vm_id, account_id, position, created_at) values (${firewallId}, ${otherVmId}, ${accountId}, 9, now())`,
  ],
  'images.owner': ({ vmId, otherAccountId }) => [
    sql`update os_templates set account_id = ${otherAccountId} where id = (select os_template_id from vms where id = ${vmId})`,
  ],
  'ssh_keys.owner': ({ keyId, otherVmId }) => [sql`insert into ssh_key_uses (ssh_key_id, vm_id) values (${keyId}, ${otherVmId})`],
  'placement_groups.members': ({ accountId, otherVmId, now }) => [
    sql`insert into placement_groups (id, account_id, name, policy, created_at) values ('cplanted', ${accountId}, 'web', 'SPREAD', ${now})`,
    sql`insert into account_quotas (account_id, name, used) values (${accountId}, 'placement_groups', 1)
      on conflict (account_id, name) do update set used = account_quotas.used + 1`,
    sql`insert into placement_group_members (vm_id, group_id) values (${otherVmId}, 'cplanted')`,
  ],
  'alerts.firings': ({ accountId, otherVmId, now }) => [
    sql`insert into alerts (id, account_id, name, metric, comparison, threshold, for_minutes, created_at, updated_at)
      values ('cplanted', ${accountId}, 'cpu', 'cpuPercent', 'ABOVE', 90, 5, ${now}, ${now})`,
    sql`insert into account_quotas (account_id, name, used) values (${accountId}, 'alerts', 1)
      on conflict (account_id, name) do update set used = account_quotas.used + 1`,
    sql`insert into alert_firings (alert_id, vm_id, vm_name, vm_labels, value, fired_at) values ('cplanted', ${otherVmId}, 'theirs', '{}', 95, ${now})`,
  ],
  'copies.owner': ({ backupId, otherAccountId }) => [sql`update backups set account_id = ${otherAccountId} where id = ${backupId}`],
  'volumes.owner': (fixture) => {
    machine(fixture).volumes.push('cplanted')
    return volume(fixture, { status: 'ATTACHING' })
  },
  'ports.tracked': ({ vmId }) => [sql`delete from vm_ports where vm_id = ${vmId}`],
  'ports.applied': ({ vmId }) => [sql`update vm_ports set desired_version = desired_version + 1 where vm_id = ${vmId}`],
  'networks.applied': ({ networkId }) => [sql`update networks set is_applied = false where id = ${networkId}`],

  'events.numbering': ({ accountId }) => [sql`update event_counters set last_number = last_number + 1 where account_id = ${accountId}`],
  'events.actions': (fixture) => [run(fixture, { label: 'RESTART', status: 'COMPLETED' })],
  'events.sequence': ({ vmId }) => [sql`update vms set event_sequence = event_sequence + 1 where id = ${vmId}`],
  'webhooks.deliveries': ({ webhookId }) => [sql`delete from webhook_deliveries where webhook_id = ${webhookId}`],
  'webhooks.overdue': ({ webhookId }) => [
    sql`update webhook_deliveries set status = 'PENDING', completed_at = null, next_attempt_at = ${LONG_AGO} where webhook_id = ${webhookId}`,
  ],
  'emails.overdue': ({ accountId }) => [
    sql`insert into emails (id, account_id, event_id, recipient, next_attempt_at, created_at)
      select 'planted', account_id, id, 'somebody@example.com', ${LONG_AGO}, ${LONG_AGO} from events where account_id = ${accountId} and number = 1`,
  ],
  'idempotency.counted': ({ accountId }) => [
    sql`insert into idempotency_usage (account_id, keys, bytes) values (${accountId}, 1, 1) on conflict (account_id) do update set keys = idempotency_usage.keys + 1`,
  ],
  'idempotency.finished': ({ accountId, now }) => [
    sql`insert into idempotency_keys (account_id, key, fingerprint, status, body, created_at, expires_at)
      values (${accountId}, 'planted', '', 500, '', ${now}, ${now})`,
  ],

  'machines.known': (fixture) => {
    fixture.host.machines.push({ ...machine(fixture), vmId: 'cnowhere', uuid: crypto.randomUUID() })
    return []
  },
  'machines.present': (fixture) => {
    fixture.host.machines = fixture.host.machines.filter((each) => each.vmId !== fixture.vmId)
    return []
  },
  'machines.unique': (fixture) => {
    fixture.host.machines.push(machine(fixture))
    return []
  },
  'machines.power': (fixture) => {
    machine(fixture).power = 'stopped'
    return []
  },
  'machines.definition': (fixture) => {
    machine(fixture).vcpu += 1
    return []
  },
  'machines.volumes': (fixture) => {
    machine(fixture).volumes.push('cnowhere')
    return []
  },
  'machines.isos': (fixture) => {
    machine(fixture).isoId = 'cnowhere'
    return []
  },
  'nics.attached': (fixture) => {
    machine(fixture).nics.push({ mac: '52:54:00:00:00:01' })
    return []
  },
  'nics.leases': ({ vmId }) => [sql`update simulated.nics set address = '10.0.0.1' where machine = ${vmId} and kind = 'public'`],
  'ports.present': ({ region, vmId }) => {
    region.ports = region.ports.filter((each) => each.vmId !== vmId)
    return []
  },
  'ports.known': ({ region }) => {
    region.ports.push({ ...region.ports[0]!, mac: '52:54:00:00:00:01', vmId: 'cnowhere' })
    return []
  },
  'networks.present': ({ region }) => {
    region.networks = []
    return []
  },
  'volumes.known': ({ host, vmId }) => {
    host.volumes.push({ ...host.volumes.find((each) => each.kind === 'disk' && each.vmId === vmId)!, generation: 9 })
    return []
  },
  'volumes.booked': ({ host, vmId }) => {
    host.volumes = host.volumes.map((each) => (each.kind === 'disk' && each.vmId === vmId ? { ...each, capacityBytes: 2 ** 45 } : each))
    return []
  },
  'volumes.present': ({ host, snapshotId }) => {
    host.volumes = host.volumes.filter((each) => each.id !== snapshotId)
    return []
  },
  'volumes.orphans': ({ host }) => [
    sql`insert into orphan_volumes (host_id, kind, id, generation, size_bytes, is_old_disk, first_seen_at, last_seen_at)
      values (${host.id}, 'backup', 'cnowhere', 0, 1, false, ${LONG_AGO}, ${LONG_AGO})`,
  ],
  'disks.shelved': ({ vmId }) => [
    sql`insert into shelved_disks (id, vm_id, target_id, created_at) values ('cdisk', ${vmId}, 'cnone', ${LONG_AGO})`,
  ],
  'storage.orphans': () => [
    addStorage(0),
    sql`insert into orphan_images (storage_id, vm_id, first_seen_at, last_seen_at) values ('cpool', 'cnowhere', ${LONG_AGO}, ${LONG_AGO})`,
  ],
}

function addStorage(usedGiB: number): Sql {
  return sql`
    insert into storage_backends (id, region_id, name, kind, monitors, pool, user_name, sealed_key, used_gib, created_at)
    select 'cpool', id, 'pool', 'SIMULATED', array['simulated:///?diskGiB=1'], 'pool', 'pool', '', ${usedGiB}, ${LONG_AGO} from regions limit 1`
}
