// VMs by the hundred thousand, by the set: what the product and its simulated host would keep of each, and no promise broken.
import { sql, type Sql, type Tx } from '../server/src/kernel/database/db.ts'
import { connect, type Customer, type Stage } from './vms-database.ts'

/** Twenty VMs of the one customer, a hundred thousand of the other; does nothing when they are there. */
export async function fill(url: string, { few, many }: Stage, count = 100_000): Promise<void> {
  const db = connect(url)
  if (!(await db.maybe(sql`select from vms where account_id = ${many.accountId} limit 1`))) {
    await db.raw('set statement_timeout = 0')
    await db.tx(async (tx) => {
      await tx.raw('set local session_replication_role = replica') // skips the checks of foreign keys, which these rows satisfy
      await addPool(tx)
      await fillAccount(tx, few, 20, 1)
      await fillAccount(tx, many, count, 1_000)
      await freeTheRest(tx)
    })
    await db.raw('vacuum analyze')
  }
  await db.close()
}

const addPool = (tx: Tx) =>
  tx.run(sql`
    insert into address_pools (id, region_id, host_id, cidr, gateway, dns, created_at)
    select 'c0000000pool', region_id, id, '10.128.0.0/15', '10.128.0.1', '{9.9.9.9}', now() from hosts where name = 'local'`)

const freeTheRest = (tx: Tx) =>
  tx.run(sql`
    insert into free_addresses (address, pool_id, available_at)
    select host('10.128.0.0'::inet + n)::inet, 'c0000000pool', now() from generate_series(2, 131070) n
    where not exists (select from vms where ip_address = host('10.128.0.0'::inet + n)::inet)`)

/** `first` tells the VMs of accounts apart. */
async function fillAccount(tx: Tx, { accountId }: Customer, count: number, first: number): Promise<void> {
  const id = sql`'c0000000' || lpad(to_hex(n), 16, '0')`
  const mac = sql`('02:01:' || regexp_replace(lpad(to_hex(n), 8, '0'), '(..)(?!$)', '\\1:', 'g'))::macaddr`
  await tx.run(sql`
    insert into vms (id, account_id, region_id, host_id, plan_id, os_template_id, uuid, name, hostname, status, readiness, provisioned, vcpu,
      ram_mib, disk_gib, bandwidth_gb, network_mbps, throttle_mbps, network_10g, daily_backup, is_protected, ip_address, address_pool_id, mac,
      renewal_day, period_started_at, period_price_cents, next_renewal_at, event_sequence, created_at, updated_at)
    select ${id}, ${accountId}, h.region_id, h.id, p.id, t.id, gen_random_uuid(), 'vm-' || n, 'vm-' || n, 'RUNNING', 'reachable', true, p.vcpu,
      p.ram_mib, p.disk_gib, p.bandwidth_gb, p.network_mbps, p.throttle_mbps, false, false, false, host('10.128.0.1'::inet + n)::inet,
      'c0000000pool', ${mac}, extract(day from now()), now(), p.price_cents, now() + '30 days', 1, now(), now()
    from generate_series(${first}::int, ${first + count - 1}::int) n, hosts h, plans p, os_templates t
    where h.name = 'local' and p.slug = 'nano' and t.slug = 'debian-12'`)
  const theirs = sql`from vms v where account_id = ${accountId}`
  await fillHost(tx, theirs)
  await tx.run(sql`
    insert into vm_ports (vm_id, host_id, account_id, applied_version, applied_at, is_managed) select id, host_id, account_id, 1, now(), true ${theirs}`)
  await tx.run(sql`
    insert into workflow_runs (id, name, label, owner_id, subject_id, input, status, attempt, progress, next_attempt_at, deadline_at, created_at,
      started_at, completed_at)
    select id, 'vm.provision', 'CREATE', account_id, id, '{}', 'COMPLETED', 1, 100, now(), now() + '20 minutes', now(), now(), now() ${theirs}`)
  await tx.run(sql`
    insert into events (account_id, number, id, type, subject_id, data, created_at)
    select account_id, last_number + row_number() over (order by v.id), 'c1' || substr(v.id, 3), 'vm.created', v.id,
      jsonb_build_object('vm', jsonb_build_object('id', v.id, 'name', v.name), 'actionId', v.id, 'sequence', 1), now()
    from vms v join event_counters c using (account_id) where account_id = ${accountId}`)
  await tx.run(sql`
    insert into wallet_transactions (id, account_id, number, type, amount_cents, balance_after_cents, description, reference_type, reference_id, created_at)
    select 'c2' || substr(v.id, 3), account_id, transaction_count + row_number() over (order by v.id), 'VM_CHARGE', -period_price_cents,
      balance_cents - period_price_cents * row_number() over (order by v.id), 'First month of ' || v.name, 'VM', v.id, now()
    from vms v join wallets w using (account_id) where account_id = ${accountId}`)
  await countAll(tx, accountId, count)
}

async function fillHost(tx: Tx, theirs: Sql): Promise<void> {
  await tx.run(sql`
    insert into simulated.machines (host_id, name, vm_id, account_id, uuid, generation, vcpu, ram_mib, has_agent, power, started_at, booted_at)
    select host_id, id, id, account_id, uuid, 1, vcpu, ram_mib, true, 'running', now(), now() ${theirs}`)
  await tx.run(sql`
    insert into simulated.nics (host_id, machine, mac, kind, address, limit_mbps, bytes_per_second, counted_at)
    select host_id, id, mac::text, 'public', host(ip_address), network_mbps, 100, now() ${theirs}`)
  await tx.run(sql`
    insert into simulated.ports (region_id, mac, vm_id, host, addresses, limit_mbps, filter, version)
    select region_id, mac::text, id, (select hostname from hosts h where h.id = host_id), array[host(ip_address)], network_mbps,
      '{"rules": [], "defaultInbound": "ACCEPT", "defaultOutbound": "ACCEPT"}', 1 ${theirs}`)
  for (const kind of ['disk', 'seed'])
    await tx.run(sql`
      insert into simulated.volumes (host_id, name, kind, id, vm_id, generation, is_complete, capacity_bytes, size_bytes)
      select host_id, ${kind}::text || '-' || id || '-1', ${kind}, id, id, 1, true, 10, 1 ${theirs}`)
}

async function countAll(tx: Tx, accountId: string, count: number): Promise<void> {
  const sums = sql`(select count(*) as vms, sum(vcpu) as vcpu, sum(ram_mib) as ram_mib, sum(disk_gib) as disk_gib, sum(period_price_cents) as cents
    from vms where account_id = ${accountId}) s`
  await tx.run(sql`
    update account_quotas q set used = (to_jsonb(s) ->> q.name)::int8 from ${sums}
    where account_id = ${accountId} and name in ('vms', 'vcpu', 'ram_mib', 'disk_gib')`)
  await tx.run(sql`
    update hosts set vcpu_used = vcpu_used + s.vcpu, ram_used_mib = ram_used_mib + s.ram_mib, disk_used_gib = disk_used_gib + s.disk_gib
    from ${sums} where name = 'local'`)
  await tx.run(sql`update event_counters set last_number = last_number + ${count}::int where account_id = ${accountId}`)
  await tx.run(sql`
    update wallets set transaction_count = transaction_count + s.vms, balance_cents = balance_cents - s.cents from ${sums}
    where account_id = ${accountId}`)
}
