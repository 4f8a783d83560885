import { expect, test, vi } from 'vitest'
import { openDb, sql } from '../../kernel/database/db.ts'
import { collect, TEMPLATE } from '../conformance/fixture.ts'
import type { Driver, DriverEvent, MachineSpec } from '../driver.ts'
import { simulatedFixture, someSpec } from './test-fixture.ts'

const signal = new AbortController().signal
const fixture = await simulatedFixture()

async function create(driver: Driver, spec: MachineSpec): Promise<void> {
  await driver.ensureDisk(spec, TEMPLATE, signal)
  await driver.ensureRunning(spec, signal)
}

test('everything is still there after the product was stopped and started', async () => {
  const spec = someSpec()
  const before = fixture.open()
  await create(before, spec)
  await fixture.drift.writeFile(spec.vmId, 'note', 'kept')
  const volumes = await collect(before.listVolumes(signal))
  await before.close()

  const db = openDb({ url: fixture.db.url, maxConnections: 2, onError: () => undefined })
  const after = fixture.open({ db })
  expect(await after.findMachine(spec.vmId, signal)).toMatchObject({ power: 'running', uuid: spec.uuid })
  expect(await collect(after.listVolumes(signal))).toEqual(volumes)
  expect(await fixture.drift.readFile(spec.vmId, 'note')).toBe('kept')
  await db.close()
})

test('three processes creating the same eight VMs at once start eight, and removing them frees all their space', async () => {
  const specs = Array.from({ length: 8 }, () => someSpec())
  const drivers = [fixture.open(), fixture.open(), fixture.open()]
  const byAll = (work: (driver: Driver, spec: MachineSpec) => Promise<void>) =>
    Promise.all(drivers.flatMap((driver) => specs.map((spec) => work(driver, spec))))
  const usedBytes = async () => (await fixture.db.one<{ used: bigint }>(sql`select disk_used_bytes as used from simulated.hosts`)).used
  const before = await usedBytes()
  const heard: DriverEvent[] = []
  const end = await drivers[0]!.subscribe((event) => heard.push(event), signal)
  await byAll(create)
  await drivers[0]!.ensureRestarted(specs[0]!.vmId, { actionId: 'c-last', graceMs: 0 }, signal)
  await vi.waitFor(() => expect(heard.at(-1)?.type).toBe('rebooted'))
  expect(heard.filter((event) => event.type === 'started')).toHaveLength(specs.length)
  await end()
  const machines = await collect(drivers[0]!.listMachines(signal))
  expect(machines.filter((machine) => specs.some((spec) => spec.uuid === machine.uuid)).map((machine) => machine.power)).toEqual(
    specs.map(() => 'running'),
  )
  await byAll((driver, spec) => driver.ensurePurged(spec.vmId, signal))
  expect(await usedBytes()).toBe(before)
})
