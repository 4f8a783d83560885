// Faults of a whole host, and drift of machines.
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { sql } from '../../kernel/database/db.ts'
import { collect, expectKind, TEMPLATE } from '../conformance/fixture.ts'
import type { Driver, DriverEvent, MachineSpec } from '../driver.ts'
import { simulatedDatabase, simulatedFixture, someSpec, type Fixture } from './test-fixture.ts'

const signal = new AbortController().signal
const db = await simulatedDatabase()
let fixture: Fixture
let driver: Driver
beforeEach(async () => {
  fixture = await simulatedFixture({ db })
  driver = fixture.open()
})

async function create(spec: MachineSpec = someSpec()): Promise<MachineSpec> {
  await driver.ensureDisk(spec, TEMPLATE, signal)
  await driver.ensureRunning(spec, signal)
  return spec
}

const powerOf = async ({ vmId }: MachineSpec) => (await driver.findMachine(vmId, signal))?.power

describe('a full disk', () => {
  test('rejects new disks and copies, leaves nothing of them, and affects no other VM', async () => {
    const spec = await create()
    await fixture.faults.fillDisk()
    const late = someSpec()
    await expectKind(driver.ensureDisk(late, TEMPLATE, signal), 'no_space')
    await expectKind(driver.ensureSnapshot(spec.vmId, 'c-late', signal), 'no_space')
    expect((await collect(driver.listVolumes(signal))).map((volume) => volume.vmId)).toEqual([spec.vmId, spec.vmId, null])
    expect((await driver.health(signal)).problems).toHaveLength(1)
    expect(await powerOf(spec)).toBe('running')
    await fixture.faults.freeDisk()
    await create(late)
  })

  test('is reported when space runs out, and ends when something is removed', async () => {
    driver = fixture.open({}, '?diskGiB=5') // a template of 1 GiB, and a tenth of each disk
    const large = someSpec({ diskGiB: 35 })
    await create(large)
    await expectKind(driver.ensureSnapshot(large.vmId, 'c-copy', signal), 'no_space')
    await expectKind(create(), 'no_space')
    await driver.ensurePurged(large.vmId, signal)
    await create()
    expect((await driver.facts(signal)).diskFreeGiB).toBe(2)
  })
})

describe('an unreachable host', () => {
  test('fails every call, keeps its machines running, and reports missed events when it is back', async () => {
    const spec = await create()
    const heard: DriverEvent[] = []
    const end = await driver.subscribe((event) => heard.push(event), signal)
    await fixture.faults.loseHost()
    await expectKind(driver.health(signal), 'unreachable')
    await expectKind(driver.ensurePurged(spec.vmId, signal), 'unreachable')
    await expectKind(collect(driver.listMachines(signal)), 'unreachable')
    expect(heard).toEqual([])
    await fixture.faults.returnHost()
    await vi.waitFor(() => expect(heard).toEqual([{ type: 'missed' }]))
    expect(await powerOf(spec)).toBe('running')
    await end()
  })

  test('does not affect another host', async () => {
    const elsewhere = (await simulatedFixture({ db })).open()
    await fixture.faults.loseHost()
    expect((await elsewhere.health(signal)).problems).toEqual([])
  })

  test('lost power: every machine is off, and starts again', async () => {
    const spec = await create()
    await fixture.faults.cutPower()
    expect(await driver.findMachine(spec.vmId, signal)).toMatchObject({ power: 'stopped', stopReason: 'host' })
    await driver.ensureRunning(spec, signal)
    expect(await powerOf(spec)).toBe('running')
  })
})

test('a subscriber whose connection was lost is resubscribed and told of missed events', async () => {
  const spec = await create()
  const heard: DriverEvent[] = []
  const end = await driver.subscribe((event) => heard.push(event), signal)
  await db.run(sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'`)
  await vi.waitFor(() => expect(heard).toEqual([{ type: 'missed' }]), { timeout: 10_000 })
  await fixture.drift.stopMachine(spec.vmId, 'crash')
  await vi.waitFor(() => expect(heard).toEqual([{ type: 'missed' }, { type: 'stopped', vmId: spec.vmId, reason: 'crash' }]))
  await end()
})

describe('drift', () => {
  test('is seen in the inventory and repaired by the same methods', async () => {
    const spec = await create()
    await fixture.drift.stopMachine(spec.vmId, 'host')
    expect(await powerOf(spec)).toBe('stopped')
    await fixture.drift.startMachine(spec.vmId)
    expect(await powerOf(spec)).toBe('running')
    await fixture.drift.pauseMachine(spec.vmId)
    expect(await powerOf(spec)).toBe('paused')
    await driver.ensureRunning(spec, signal)
    expect(await powerOf(spec)).toBe('running')
    await fixture.drift.deleteMachine(spec.vmId)
    expect(await powerOf(spec)).toBeUndefined()
    await driver.ensureRunning(spec, signal)
    expect(await powerOf(spec)).toBe('running')
  })

  test('an unknown machine is listed without owner', async () => {
    await fixture.drift.createStranger('by-hand')
    const machines = await collect(driver.listMachines(signal))
    expect(machines).toMatchObject([{ name: 'by-hand', vmId: null, accountId: null, power: 'running' }])
    expect(await collect(driver.counters('all', signal))).toEqual([])
  })

  test('a guest that hangs fails its boot with a console tail, and has to be powered off', async () => {
    const spec = await create()
    await fixture.drift.hangGuest(spec.vmId)
    const boot = driver.ensureReady(spec.vmId, { timeoutMs: 60_000 }, signal)
    await expect(boot).rejects.toMatchObject({
      kind: 'guest_failed',
      consoleTail: expect.arrayContaining([expect.stringContaining('panic')]),
    })
    await expectKind(driver.ensurePassword(spec.vmId, { user: 'root', passwordHash: '$6$x' }, signal), 'transient')
    expect(await driver.ensureStopped(spec.vmId, { graceMs: 60_000 }, signal)).toEqual({ how: 'forced' })
    await create({ ...spec, generation: 2 })
    expect(await driver.ensureReady(spec.vmId, { timeoutMs: 1 }, signal)).toEqual({ readiness: 'reachable' })
  })
})
