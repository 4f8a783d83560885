// A fleet by the set: hosts with 500 VMs each, accounts with ten, each VM idle for up to a month, and no promise broken.
import { seedHosts } from '../server/src/features/hosts/service.ts'
import { sealSecret } from '../server/src/features/webhooks/message.ts'
import type { Deps } from '../server/src/features/deps.ts'
import { sql, type Sql, type Tx } from '../server/src/kernel/database/db.ts'
import { connect } from './vms-database.ts'

export const VMS_ON_A_HOST = 500
export const VMS_OF_AN_ACCOUNT = 10
const DISK_GIB = 1_000_000
/** Of each account; more than ten VMs cost in the months that a run sees. */
const CENTS = 1_000_000

/** `to` is where webhooks of the accounts go: one of each, of everything that happens in the run. */
export async function fillFleet(url: string, vms: number, { clock, vault }: Deps, to: string): Promise<void> {
  const db = connect(url)
  await db.raw('set statement_timeout = 0')
  const hosts = Array.from({ length: Math.ceil(vms / VMS_ON_A_HOST) }, (_, number) => ({
    name: `rack-${number}`,
    region: 'fra1',
    driver: 'simulated' as const,
    uri: '',
    vcpu: 4_000,
    ram: 4_000_000,
    disk: DISK_GIB,
  }))
  await db.tx((tx) => seedHosts(tx, clock.now(), hosts, 'simulated'))
  const now = clock.now()
  await db.tx(async (tx) => {
    await tx.raw('set local session_replication_role = replica') // skips the checks of foreign keys, which these rows satisfy
    await tx.run(sql`
      create temp table racks on commit drop as
      select row_number() over (order by length(name), name) - 1 as number, id from hosts where name like 'rack-%'`)
    await fillAccounts(tx, now, vms / VMS_OF_AN_ACCOUNT)
    await fillVms(tx, now, vms)
    await fillHosts(tx)
    await fillHistory(tx)
    await count(tx)
  })
  const accounts = await db.many<{ id: string }>(sql`select id from accounts where id like 'cac%' order by id`)
  const webhooks = accounts.map(({ id }) => ({ id: id.replace('cac', 'cwh'), accountId: id }))
  await db.run(sql`
    insert into webhooks (id, account_id, url, events, description, secret, active_since, created_at, updated_at)
    select w.id, account_id, ${to}, '{vm.renewed,vm.started}', '', decode(secret, 'hex'), ${now}, ${now}, ${now}
    from unnest(${webhooks.map(({ id }) => id)}::text[], ${webhooks.map(({ accountId }) => accountId)}::text[],
      ${webhooks.map(({ id }) => sealSecret(vault, id, 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0').toString('hex'))}::text[]) as w(id, account_id, secret)`)
  await db.raw('vacuum analyze')
  await db.close()
}

async function fillAccounts(tx: Tx, now: Date, count: number): Promise<void> {
  const id = sql`'cac' || lpad(n::text, 21, '0')`
  const numbers = sql`generate_series(0, ${count - 1}::int) n`
  const month = sql`${now}::timestamptz - '30 days'::interval`
  await tx.run(sql`insert into accounts (id, email, name, created_at) select ${id}, n || '@fleet.example', '', ${month} from ${numbers}`)
  await tx.run(sql`insert into wallets (account_id, balance_cents, transaction_count) select ${id}, ${CENTS}::int, 1 from ${numbers}`)
  await tx.run(sql`
    insert into wallet_transactions (id, account_id, number, type, amount_cents, balance_after_cents, description, reference_type, reference_id, created_at)
    select 'cwt' || lpad(n::text, 21, '0'), ${id}, 1, 'CREDIT', ${CENTS}::int, ${CENTS}::int, 'Money', 'ADMIN', ${id}, ${month} from ${numbers}`)
  await tx.run(sql`insert into event_counters (account_id, last_number) select ${id}, 0 from ${numbers}`)
}

async function fillVms(tx: Tx, now: Date, count: number): Promise<void> {
  const bits = Math.ceil(Math.log2(count + 3))
  await tx.run(sql`
    insert into address_pools (id, region_id, cidr, gateway, dns, created_at)
    select 'cpool', id, ${`10.128.0.0/${32 - bits}`}::cidr, '10.128.0.1', '{9.9.9.9}', ${now} from regions where slug = 'fra1'`)
  const mac = sql`('02:01:' || regexp_replace(lpad(to_hex(n), 8, '0'), '(..)(?!$)', '\\1:', 'g'))::macaddr`
  const address = sql`host('10.128.0.0'::inet + n + 2)::inet`
  await tx.run(sql`
    insert into vms (id, account_id, region_id, host_id, plan_id, os_template_id, uuid, name, hostname, status, readiness, provisioned, vcpu,
      ram_mib, disk_gib, bandwidth_gb, network_mbps, throttle_mbps, network_10g, daily_backup, is_protected, ip_address, address_pool_id, mac,
      renewal_day, period_started_at, period_price_cents, next_renewal_at, event_sequence, desired_running, created_at, updated_at)
    select 'cvm' || lpad(n::text, 21, '0'), 'cac' || lpad((n / ${VMS_OF_AN_ACCOUNT}::int)::text, 21, '0'), g.id, h.id, p.id, t.id, gen_random_uuid(), 'vm-' || n, 'vm-' || n,
      'RUNNING', 'reachable', true, p.vcpu, p.ram_mib, p.disk_gib, p.bandwidth_gb, p.network_mbps, p.throttle_mbps, false, false, false,
      ${address}, 'cpool', ${mac}, extract(day from made.at), made.at, p.price_cents, made.at + '1 month'::interval, 2, true, made.at, made.at
    from generate_series(0, ${count - 1}::int) n join racks h on h.number = n % ${Math.ceil(count / VMS_ON_A_HOST)}::int,
      lateral (select ${now}::timestamptz - n % 28 * '1 day'::interval as at) made, regions g, plans p, os_templates t
    where g.slug = 'fra1' and p.slug = 'nano' and t.slug = 'debian-12'`)
  await tx.run(sql`
    insert into free_addresses (address, pool_id, available_at)
    select host('10.128.0.0'::inet + n)::inet, 'cpool', ${now} from generate_series(${count + 2}::int, ${2 ** bits - 2}::int) n`)
  await tx.run(sql`
    insert into vm_ports (vm_id, host_id, account_id, applied_version, applied_at, is_managed) select id, host_id, account_id, 1, created_at, true ${theirs}`)
}

const theirs = sql`from vms v where id like 'cvm%'`

async function fillHosts(tx: Tx): Promise<void> {
  await tx.run(sql`
    insert into simulated.hosts (host_id, disk_total_bytes) select id, ${DISK_GIB * 2 ** 30}::int8 from racks on conflict do nothing`)
  await tx.run(sql`
    insert into simulated.machines (host_id, name, vm_id, account_id, uuid, generation, vcpu, ram_mib, has_agent, power, started_at, booted_at)
    select host_id, id, id, account_id, uuid, 1, vcpu, ram_mib, true, 'running', created_at, created_at ${theirs}`)
  await tx.run(sql`
    insert into simulated.nics (host_id, machine, mac, kind, address, limit_mbps, bytes_per_second, counted_at)
    select host_id, id, mac::text, 'public', host(ip_address), network_mbps, 100, created_at ${theirs}`)
  await tx.run(sql`
    insert into simulated.ports (region_id, mac, vm_id, host, addresses, limit_mbps, filter, version)
    select region_id, mac::text, id, (select hostname from hosts h where h.id = host_id), array[host(ip_address)], network_mbps,
      '{"rules": [], "defaultInbound": "ACCEPT", "defaultOutbound": "ACCEPT"}', 1 ${theirs}`)
  for (const kind of ['disk', 'seed'])
    await tx.run(sql`
      insert into simulated.volumes (host_id, name, kind, id, vm_id, generation, is_complete, capacity_bytes, size_bytes)
      select host_id, ${kind}::text || '-' || id || '-1', ${kind}, id, id, 1, true, disk_gib * 1073741824::int8, 1 ${theirs}`)
}

/** What is left of each creation. */
async function fillHistory(tx: Tx): Promise<void> {
  await tx.run(sql`
    insert into workflow_runs (id, name, label, owner_id, subject_id, input, status, attempt, progress, next_attempt_at, deadline_at, created_at,
      started_at, completed_at)
    select 'cru' || substr(id, 4), 'vm.provision', 'CREATE', account_id, id, jsonb_build_object('vmId', id), 'COMPLETED', 1, 100, created_at, created_at, created_at, created_at,
      created_at ${theirs}`)
  await tx.run(sql`
    insert into workflow_steps (run_id, position, name, status, result, started_at, completed_at)
    select 'cru' || substr(v.id, 4), s.position, s.name, 'COMPLETED', 'null', v.created_at, v.created_at
    from vms v, unnest(array['networks', 'filter', 'disk', 'boot', 'ready']) with ordinality as s(name, position) where v.id like 'cvm%'`)
  const place = (type: string, number: Sql) => sql`
    select account_id, row_number() over (partition by account_id order by v.id) * 2 - ${number} as number, ${type}::text as type, v.id, v.name, v.created_at,
      2 - ${number} as sequence ${theirs}`
  await tx.run(sql`
    insert into events (account_id, number, id, type, subject_id, data, created_at)
    select account_id, number, 'ce' || sequence || substr(e.id, 4), type, e.id,
      jsonb_build_object('vm', jsonb_build_object('id', e.id, 'name', e.name), 'actionId', 'cru' || substr(e.id, 4), 'sequence', sequence), created_at
    from (${place('vm.created', sql`1`)} union all ${place('vm.started', sql`0`)}) e`)
  await tx.run(
    sql`update event_counters c set last_number = n.count from (select account_id, count(*) from events group by 1) n where n.account_id = c.account_id`,
  )
  await tx.run(sql`
    insert into wallet_transactions (id, account_id, number, type, amount_cents, balance_after_cents, description, reference_type, reference_id, created_at)
    select 'cwc' || substr(v.id, 4), account_id, 1 + row_number() over mine, 'VM_CHARGE', -period_price_cents,
      ${CENTS}::int - sum(period_price_cents) over mine, 'First month of ' || v.name, 'VM', v.id, created_at
    ${theirs} window mine as (partition by account_id order by v.id)`)
}

async function count(tx: Tx): Promise<void> {
  const sums = (by: Sql) => sql`
    (select ${by}, count(*)::int as vms, sum(vcpu)::int as vcpu, sum(ram_mib)::int as ram_mib, sum(disk_gib)::int as disk_gib, sum(period_price_cents)::int8 as cents
    ${theirs} group by 1) s`
  await tx.run(sql`
    insert into account_quotas (account_id, name, used, limit_override) select account_id, q.name, (to_jsonb(s) ->> q.name)::int8, 1000000
    from ${sums(sql`account_id`)}, unnest(array['vms', 'vcpu', 'ram_mib', 'disk_gib']) as q(name)`)
  await tx.run(sql`
    insert into account_quotas (account_id, name, used) select id, 'webhooks', 1 from accounts where id like 'cac%'`)
  await tx.run(sql`
    update hosts h set vcpu_used = s.vcpu, ram_used_mib = s.ram_mib, disk_used_gib = s.disk_gib from ${sums(sql`host_id`)} where s.host_id = h.id`)
  await tx.run(sql`
    update simulated.hosts h set disk_used_bytes = s.bytes from (
      select host_id, sum(size_bytes)::int8 as bytes from simulated.volumes group by 1) s where s.host_id = h.host_id`)
  await tx.run(sql`
    update wallets w set transaction_count = transaction_count + s.vms, balance_cents = balance_cents - s.cents
    from ${sums(sql`account_id`)} where s.account_id = w.account_id`)
}
