// The cost of one minute of metering for any number of VMs.
import { expect, vi } from 'vitest'
import { counting } from './counting-db.ts'
import { testDatabase } from './harness.ts'
import { simulatedDrivers } from '../src/hypervisor/simulated/driver.ts'
import { instantPace } from '../src/hypervisor/simulated/latency.ts'
import { manualClock, stopwatch } from '../src/kernel/clock.ts'
import { openDb, sql, type Db } from '../src/kernel/database/db.ts'
import { hooks } from '../src/features/index.ts'
import { meterTraffic } from '../src/features/bandwidth/metering.ts'

/** An autovacuum or autoanalyze of any table holds a snapshot that keeps dead rows: pages fill up, and updates are no longer HOT. */
const withoutAutovacuum = sql`
  do $$ declare t regclass; begin
    for t in select oid::regclass from pg_class where relkind = 'r' and relnamespace in ('public'::regnamespace, 'simulated'::regnamespace) loop
      execute format('alter table %s set (autovacuum_enabled = off)', t);
    end loop;
  end $$`

const PAIRS = 4
/** With full pages it is half. */
const ENOUGH = 0.75

/** Running VMs with traffic on one host, inserted in bulk. */
export async function fillHost(db: Db, now: Date, hostId: string, count: number): Promise<void> {
  const numbers = sql`from generate_series(1, ${count}::int) n`
  const mac = sql`('02' || lpad(to_hex(n), 10, '0'))::macaddr`
  await db.tx(async (tx) => {
    await tx.raw('set local session_replication_role = replica') // skips foreign key checks, which these rows satisfy
    await tx.setStatementTimeout('10m')
    await tx.run(sql`insert into accounts (id, email, name, created_at) values ('caccount1', 'a@example.com', '', ${now})`)
    await tx.run(sql`
      insert into vms (id, account_id, region_id, host_id, plan_id, os_template_id, uuid, name, hostname, status, provisioned, vcpu, ram_mib, disk_gib,
        bandwidth_gb, network_mbps, throttle_mbps, network_10g, daily_backup, is_protected, ip_address, mac, renewal_day, period_started_at,
        period_price_cents, next_renewal_at, created_at, updated_at)
      select 'cvm' || n, 'caccount1', r.id, ${hostId}, p.id, t.id, gen_random_uuid(), 'vm', 'vm', 'RUNNING', true, 1, 1024, 25, 2000, 1000, 10, false, false,
        false, '10.0.0.0'::inet + n, ${mac}, 1, ${now}, 600, ${now}::timestamptz + interval '30 days', ${now}, ${now}
      from (select id from regions limit 1) r, (select id from plans limit 1) p, (select id from os_templates limit 1) t,
        lateral (select n ${numbers}) n`)
    await tx.run(sql`
      insert into simulated.machines (host_id, name, vm_id, uuid, generation, vcpu, ram_mib, has_agent, power)
      select ${hostId}, 'cvm' || n, 'cvm' || n, gen_random_uuid(), 1, 1, 1024, true, 'running' ${numbers}`)
    await tx.run(sql`
      insert into simulated.nics (host_id, machine, mac, kind, address, epoch, bytes_per_second, counted_at)
      select ${hostId}, 'cvm' || n, ${mac}::text, 'public', '10.0.0.1', n, 8000, ${now} ${numbers}`)
  })
  await db.raw('analyze')
}

/** Of all updates until now that went into the same page. Each connection reports its own statistics with a delay: throws until all are counted. */
async function updatesInPlace(db: Db, updates: number): Promise<number> {
  const { all, inPlace } = await db.one<{ all: bigint; inPlace: bigint }>(sql`
    select n_tup_upd as all, n_tup_hot_upd as "inPlace" from pg_stat_user_tables where relname = 'bandwidth_baselines'`)
  expect(Number(all)).toBe(updates)
  return Number(inPlace)
}

/** Two statements per thousand VMs, each VM written once and as a HOT update. */
export async function provesCheapMetering(count: number): Promise<void> {
  const url = await testDatabase()
  const plain = openDb({ url, maxConnections: 3, onError: () => {} })
  try {
    const { db, statements } = counting(plain)
    const clock = manualClock()
    const { id, uri } = await db.one<{ id: string; uri: string }>(sql`select id, uri from hosts limit 1`)
    await plain.run(withoutAutovacuum)
    await fillHost(plain, clock.now(), id, count)
    const driver = simulatedDrivers({ db: plain, clock, pace: instantPace })({ id, driver: 'simulated', uri })
    const deps = { db, clock, hooks }
    const minute = async (): Promise<number> => {
      clock.advance('60s')
      const elapsed = stopwatch()
      expect(await meterTraffic(deps, driver, 'all', AbortSignal.timeout(600_000))).toBe(0)
      return elapsed()
    }
    await minute()
    let [share, inPlace] = [0, 0]
    // A snapshot that anything holds meanwhile, an autoanalyze of a catalog for example, keeps dead rows too: not twice in a row.
    for (let pair = 1; pair <= PAIRS && share <= ENOUGH; pair++) {
      await plain.raw('vacuum bandwidth_baselines') // as autovacuum does in the background
      const before = statements()
      const times = [await minute(), await minute()]
      const batches = 2 * Math.ceil(count / 1000)
      expect(statements() - before).toBeLessThanOrEqual(2 * batches + times.length) // one more per minute for the host's number

      const sums = await db.one(sql`select count(*)::int, min(bandwidth_used_bytes)::int, max(bandwidth_used_bytes)::int from vm_details`)
      const used = (1 + 2 * pair) * 600_000
      expect(sums).toEqual({ count, min: used, max: used })
      const all = await vi.waitFor(() => updatesInPlace(plain, pair * 2 * count), { timeout: 60_000, interval: 500 })
      share = (all - inPlace) / (2 * count)
      inPlace = all
      console.log(`${count} VMs: a minute of metering takes ${Math.min(...times).toFixed(0)} ms, ${share} of the updates are in place`)
    }
    expect(share).toBeGreaterThan(ENOUGH)
  } finally {
    await plain.close()
  }
}
