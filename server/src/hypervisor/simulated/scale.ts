// A full host is as quick as an empty one. Two databases, the same life of one VM in turns on each, and their best times compared.
import { expect } from 'vitest'
import { stopwatch } from '../../kernel/clock.ts'
import { sql, type Db } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { collect, OPEN, TEMPLATE } from '../conformance/fixture.ts'
import type { Driver } from '../driver.ts'
import type { NetworkController } from '../network-controller.ts'
import { simulatedDatabase, simulatedFixture, someSpec } from './test-fixture.ts'

const signal = new AbortController().signal
const ROUNDS = 12

async function fill(db: Db, hostId: string, count: number): Promise<void> {
  const numbers = sql`from generate_series(1, ${count}::int) n`
  await db.tx(async (tx) => {
    await tx.raw('set local session_replication_role = replica') // skips the checks of foreign keys, which these rows satisfy
    await tx.run(sql`insert into simulated.machines (host_id, name, vm_id, account_id, uuid, generation, vcpu, ram_mib, has_agent, power, started_at, booted_at)
      select ${hostId}, 'c' || n, 'c' || n, 'c-account', gen_random_uuid(), 1, 1, 1024, true, 'running', now(), now() ${numbers}`)
    await tx.run(sql`insert into simulated.nics (host_id, machine, mac, kind, address, bytes_per_second, counted_at)
      select ${hostId}, 'c' || n, 'mac' || n, 'public', '10.77.0.2', 1000, now() ${numbers}`)
    await tx.run(sql`insert into simulated.ports (region_id, mac, vm_id, host, addresses)
      select 'c-region', 'mac' || n, 'c' || n, ${hostId}, array['10.77.0.2'] ${numbers}`)
    await tx.run(sql`insert into simulated.volumes (host_id, name, kind, id, vm_id, generation, parent, is_complete, capacity_bytes, size_bytes)
      select ${hostId}, 'disk-c' || n || '-1', 'disk', 'c' || n, 'c' || n, 1, 'template-debian', true, 10, 1 ${numbers}`)
  })
  await db.raw('analyze')
}

/** Every verb on one VM's way from its creation to its end. */
async function life(driver: Driver, networks: NetworkController): Promise<number> {
  const elapsed = stopwatch()
  const spec = someSpec()
  const { vmId } = spec
  const [backupId, networkId] = [newId(), newId()]
  const nic = { ...someSpec().nics[0]!, kind: 'private', networkId } as const
  const port = { vmId, addresses: [nic.ipv4!.address], ranges: [], host: driver.hostId, limitMbps: null, filter: OPEN }
  await networks.ensureNetwork(
    { networkId, cidr: '10.1.0.0/24', gateway: '10.1.0.1', enableDhcp: true, dns: [], snat: null, routes: [], peers: [] },
    signal,
  )
  await networks.ensurePort({ ...port, mac: spec.nics[0]!.mac, networkId: null }, signal)
  await networks.ensurePort({ ...port, mac: nic.mac, networkId }, signal)
  await driver.ensureDisk(spec, TEMPLATE, signal)
  await driver.ensureRunning(spec, signal)
  await driver.ensureReady(vmId, { timeoutMs: 1 }, signal)
  await driver.ensureInterface(vmId, nic, signal)
  await networks.ensurePort({ ...port, mac: nic.mac, networkId, limitMbps: 10 }, signal)
  await driver.ensurePassword(vmId, { user: 'root', passwordHash: '$6$x' }, signal)
  await driver.ensureRestarted(vmId, { actionId: 'c-action', graceMs: 1 }, signal)
  await driver.ensureBackup(vmId, { backupId, parentId: null }, signal)
  await driver.ensureBackup(vmId, { backupId: newId(), parentId: backupId }, signal)
  await driver.ensureSnapshot(vmId, newId(), signal)
  await collect(driver.counters([vmId], signal))
  await collect(driver.metrics([vmId], signal))
  await driver.findMachine(vmId, signal)
  await driver.ensureStopped(vmId, { graceMs: 1 }, signal)
  await driver.ensureDefined({ ...spec, diskGiB: 20 }, signal)
  await driver.ensurePurged(vmId, signal)
  for (const { mac } of [spec.nics[0]!, nic]) await networks.ensureNoPort(mac, signal)
  await networks.ensureNoNetwork(networkId, signal)
  await driver.facts(signal)
  return elapsed()
}

async function hostWith(count: number) {
  // One connection, so that what it scanned can be asked of it.
  const { db, hostId, open, networks } = await simulatedFixture({ db: await simulatedDatabase(1) })
  const driver = open()
  await life(driver, networks)
  await fill(db, hostId, count)
  return { db, driver, networks }
}

/** The life of one VM costs the same among `count` others as among a hundred, and listing them all reads each once. */
export async function provesFlat(count: number): Promise<void> {
  const few = await hostWith(100)
  const many = await hostWith(count)
  let touchedBefore = 0
  /** Rows the host's tables were read for since the last time this was asked. */
  const rowsTouched = async (): Promise<number> => {
    await many.db.raw('select pg_stat_force_next_flush()')
    const { rows } = await many.db.one<{ rows: bigint }>(sql`select sum(seq_tup_read + idx_tup_fetch)::int8 as rows
      from pg_stat_user_tables where schemaname = 'simulated'`)
    const touched = Number(rows) - touchedBefore
    touchedBefore = Number(rows)
    return touched
  }
  await rowsTouched()
  const times = { few: [] as number[], many: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    times.few.push(await life(few.driver, few.networks))
    times.many.push(await life(many.driver, many.networks))
  }
  expect((await rowsTouched()) / ROUNDS).toBeLessThan(1_000)
  expect(Math.min(...times.many) / Math.min(...times.few)).toBeLessThan(2)

  let counters = 0
  for await (const _each of many.driver.counters('all', signal)) counters++
  expect(counters).toBe(count)
  expect((await rowsTouched()) / count).toBeLessThan(4) // walked once, page by page
  let machines = 0
  for await (const _each of many.driver.listMachines(signal)) machines++
  expect(machines).toBe(count)
  expect((await rowsTouched()) / count).toBeLessThan(5)
}
