// Volumes, their snapshots, backups and images of many accounts, by the set: each account and each host has as many, however many there are.
import { createAccount } from '../server/src/features/accounts/service.ts'
import { seedHosts } from '../server/src/features/hosts/service.ts'
import { hooks } from '../server/src/features/index.ts'
import { credit } from '../server/src/features/wallet/service.ts'
import { systemClock } from '../server/src/kernel/clock.ts'
import { sql, type Db, type Sql } from '../server/src/kernel/database/db.ts'
import { connect } from './vms-database.ts'

const [VOLUMES, SNAPSHOTS, VMS, BACKUPS, IMAGES] = [90, 50, 5, 500, 50]
const ACCOUNTS_ON_A_HOST = 5
const MAC = sql`('02:01:' || regexp_replace(lpad(to_hex(a.position * ${VMS}::int + n), 8, '0'), '(..)(?!$)', '\\1:', 'g'))::macaddr`

export interface Filled {
  accountIds: string[]
  hostIds: string[]
  /** Has a tenth of all volumes. */
  largeAccountId: string
}

export const idOf = (kind: 'volume' | 'snapshot' | 'vm' | 'backup' | 'image', account: number, number: number): string =>
  `c${kind[0]}${kind[1]}${String(account).padStart(6, '0')}${String(number).padStart(6, '0')}`

export async function fillStorage(url: string, accounts: number): Promise<Filled> {
  const db = connect(url)
  await db.raw('set statement_timeout = 0')
  const accountIds: string[] = []
  for (let number = 0; number < accounts; number++) accountIds.push(await addAccount(db, `account-${number}`))
  const largeAccountId = await addAccount(db, 'large')
  const hostIds = await addHosts(db, accounts / ACCOUNTS_ON_A_HOST)
  await fillRows(db, { accountIds, hostIds, largeAccountId })
  await db.raw('vacuum analyze')
  await db.close()
  return { accountIds, hostIds, largeAccountId }
}

const addAccount = (db: Db, name: string): Promise<string> =>
  db.tx(async (tx) => {
    const { id } = await createAccount(tx, systemClock.now(), { email: `${name}@example.com` })
    const entry = { type: 'CREDIT', description: 'Money', referenceType: 'ADMIN', referenceId: id, currency: 'USD' } as const
    await credit(tx, { clock: systemClock, hooks }, id, 1_000_000_00n, entry)
    await tx.run(sql`insert into account_quotas (account_id, name, used) values (${id}, 'copies_gib', 1000000)`)
    return id
  })

async function addHosts(db: Db, count: number): Promise<string[]> {
  const size = { vcpu: 1_000, ram: 1_000_000, disk: 10_000_000 }
  const hosts = Array.from({ length: count }, (_, number) => ({
    name: `host-${number}`,
    region: 'fra1',
    driver: 'simulated' as const,
    uri: 'simulated:///?diskGiB=10000000',
    ...size,
  }))
  await db.tx((tx) => seedHosts(tx, systemClock.now(), hosts, 'simulated'))
  await db.run(sql`update hosts set disk_used_gib = 1000000, ram_used_mib = 100000, vcpu_used = 100 where name like 'host-%'`)
  return (await db.many<{ id: string }>(sql`select id from hosts where name like 'host-%' order by length(name), name`)).map(({ id }) => id)
}

async function fillRows(db: Db, { accountIds, hostIds, largeAccountId }: Filled): Promise<void> {
  const owners = sql`unnest(${accountIds}::text[]) with ordinality as a(account_id, position),
    lateral (select (${hostIds}::text[])[(a.position - 1) / ${ACCOUNTS_ON_A_HOST}::int + 1] as host_id) h,
    (select id as region_id from regions where slug = 'fra1') r, (select id as template_id from os_templates where slug = 'debian-12') t`
  const id = (kind: string, number: Sql) =>
    sql`${`c${kind.slice(0, 2)}`}::text || lpad((a.position - 1)::text, 6, '0') || lpad((${number})::text, 6, '0')`
  const later = sql`now() + '1 day'::interval + (n % 600) * '1 hour'::interval`
  const period = sql`extract(day from now()), now(), 50, ${later}, now(), now()`
  const volume = sql`insert into volumes (id, account_id, region_id, name, is_protected, size_gib, storage, host_id, has_data, renewal_day,
    period_started_at, period_price_cents, next_renewal_at, created_at, updated_at)`
  const numbers = (count: number): Sql => sql`generate_series(0, ${count - 1}::int) n`
  await db.tx(async (tx) => {
    await tx.raw('set local session_replication_role = replica') // skips the checks of foreign keys, which these rows satisfy
    await tx.run(sql`
      ${volume} select ${id('volume', sql`n`)}, a.account_id, r.region_id, 'volume-' || n, false, 10, 'LOCAL', h.host_id, true, ${period}
      from ${owners}, ${numbers(VOLUMES)}`)
    await tx.run(sql`
      ${volume} select 'cvx' || lpad(n::text, 6, '0'), ${largeAccountId}, r.region_id, 'volume-' || n, false, 10, 'LOCAL',
        (${hostIds}::text[])[n % ${hostIds.length}::int + 1], true, ${period}
      from (select id as region_id from regions where slug = 'fra1') r, ${numbers(accountIds.length * 10)}`)
    // A volume of each account has all of its snapshots, so that there are pages of them.
    await tx.run(sql`
      insert into volume_snapshots (id, volume_id, name, description, status, size_gib, size_bytes, counted_gib, created_at)
      select ${id('snapshot', sql`n`)}, ${id('volume', sql`0`)}, 'snapshot-' || n, '', 'AVAILABLE', 10, 1000000, 10, now() from ${owners}, ${numbers(SNAPSHOTS)}`)
    await tx.run(sql`
      insert into vms (id, account_id, region_id, host_id, plan_id, os_template_id, uuid, name, hostname, status, provisioned, vcpu, ram_mib, disk_gib,
        bandwidth_gb, network_mbps, throttle_mbps, network_10g, daily_backup, is_protected, ip_address, address_pool_id, mac, renewal_day, period_started_at, period_price_cents,
        next_renewal_at, created_at, updated_at)
      select ${id('vm', sql`n`)}, a.account_id, r.region_id, h.host_id, p.id, t.template_id, gen_random_uuid(), 'vm-' || n, 'vm-' || n, 'STOPPED', true,
        p.vcpu, p.ram_mib, p.disk_gib, p.bandwidth_gb, p.network_mbps, p.throttle_mbps, false, true, false, host('10.128.0.0'::inet + (a.position * ${VMS}::int + n))::inet, 'pool', ${MAC}, ${period}
      from ${owners}, ${numbers(VMS)}, plans p where p.slug = 'nano'`)
    await tx.run(sql`insert into backup_schedules (vm_id, next_at) select id, now() + '1 day'::interval from vms`)
    await tx.run(sql`
      insert into backup_targets (id, region_id, kind, endpoint, bucket, prefix, region_name, access_key, secret_key, created_at)
      select 'target', id, 's3', '', '', '', '', '', '', now() from regions where slug = 'fra1'`)
    await tx.run(sql`
      insert into backup_repositories (id, target_id, vm_id, created_at) select id, 'target', id, now() from vms`)
    await tx.run(sql`
      insert into backups (id, vm_id, account_id, host_id, target_id, os_template_id, name, type, status, size_bytes, counted_gib, run_id, completed_at, created_at)
      select ${id('backup', sql`n`)}, ${id('vm', sql`n % ${VMS}::int`)}, a.account_id, case when n % 2 = 0 then h.host_id end,
        case when n % 2 = 1 then 'target' end, t.template_id, 'backup-' || n,
        case when n < ${7 * VMS}::int then 'DAILY' else 'MANUAL' end, 'AVAILABLE', 1000000, 1, 'none', now(), now()
      from ${owners}, ${numbers(BACKUPS)}`)
    await tx.run(sql`
      insert into images (id, account_id, name, kind, status, source_type, source, run_id, size_bytes, counted_gib, renewal_day, period_started_at,
        period_price_cents, next_renewal_at, created_at, updated_at)
      select ${id('image', sql`n`)}, a.account_id, 'image-' || n, 'ISO', 'AVAILABLE', 'URL', 'https://example.com/image.iso', 'none', 1000000, 1, ${period}
      from ${owners}, ${numbers(IMAGES)}`)
    const data = (kind: string, rows: Sql): Promise<number> =>
      tx.run(sql`
        insert into simulated.volumes (host_id, name, kind, id, vm_id, is_complete, capacity_bytes, size_bytes)
        select host_id, ${kind}::text || '-' || coalesce(vm_id || '-', '') || id, ${kind}, id, vm_id, true, 10, 1 from (${rows}) d`)
    await data('volume', sql`select host_id, id, null::text as vm_id from volumes`)
    await data('backup', sql`select host_id, id, vm_id from backups where host_id is not null`)
    await data('snapshot', sql`select v.host_id, s.id, s.volume_id as vm_id from volume_snapshots s join volumes v on v.id = s.volume_id`)
  })
}
