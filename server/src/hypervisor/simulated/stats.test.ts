import { describe, expect, test } from 'vitest'
import { collect, OPEN, TEMPLATE } from '../conformance/fixture.ts'
import type { MachineSpec, NicCounters } from '../driver.ts'
import { simulatedFixture, someSpec } from './test-fixture.ts'

const signal = new AbortController().signal
const fixture = await simulatedFixture({ bytesPerSecond: () => 1_000_000 })
const driver = fixture.open()

async function create(): Promise<MachineSpec> {
  const spec = someSpec()
  await driver.ensureDisk(spec, TEMPLATE, signal)
  await driver.ensureRunning(spec, signal)
  return spec
}

const limit = ({ vmId, nics: [nic] }: MachineSpec, limitMbps: number | null): Promise<void> =>
  fixture.networks.ensurePort(
    { vmId, mac: nic!.mac, networkId: null, addresses: [nic!.ipv4!.address], ranges: [], host: fixture.hostId, limitMbps, filter: OPEN },
    signal,
  )

async function countersOf({ vmId }: MachineSpec): Promise<NicCounters> {
  const [counters] = await collect(driver.counters([vmId], signal))
  return counters!
}

describe('traffic', () => {
  test('grows with the running time of a machine, to the byte', async () => {
    const spec = await create()
    fixture.clock.advance('60s')
    expect(await countersOf(spec)).toMatchObject({ receivedBytes: 60_000_000n, sentBytes: 15_000_000n })
    await fixture.drift.addTraffic(spec.vmId, spec.nics[0]!.mac, { received: 1, sent: 2 })
    expect(await countersOf(spec)).toMatchObject({ receivedBytes: 60_000_001n, sentBytes: 15_000_002n })
  })

  test('obeys a limit from the moment it is set, and keeps what was counted before', async () => {
    const spec = await create()
    fixture.clock.advance('10s')
    await limit(spec, 4) // 500,000 bytes a second
    fixture.clock.advance('10s')
    expect((await countersOf(spec)).receivedBytes).toBe(15_000_000n)
    await limit(spec, null)
    fixture.clock.advance('10s')
    expect((await countersOf(spec)).receivedBytes).toBe(25_000_000n)
  })

  test('does not grow while a machine is paused', async () => {
    const spec = await create()
    fixture.clock.advance('10s')
    await fixture.drift.pauseMachine(spec.vmId)
    const paused = await countersOf(spec)
    fixture.clock.advance('1h')
    expect(await countersOf(spec)).toEqual(paused)
    await driver.ensureRunning(spec, signal)
    fixture.clock.advance('1s')
    expect((await countersOf(spec)).receivedBytes).toBe(11_000_000n)
  })

  test('restarts at zero when an interface is attached again', async () => {
    const spec = await create()
    const nic = spec.nics[0]!
    const before = await countersOf(spec)
    await driver.ensureNoInterface(spec.vmId, nic.mac, signal)
    await driver.ensureInterface(spec.vmId, nic, signal)
    const after = await countersOf(spec)
    expect(after.receivedBytes).toBe(0n)
    expect(after.epoch).not.toBe(before.epoch)
  })
})

test('metrics are plausible: CPU time never decreases, memory stays within its bounds', async () => {
  const spec = await create()
  const cpu: bigint[] = []
  const ram = new Set<number>()
  for (let hour = 0; hour < 24; hour++) {
    fixture.clock.advance('1h')
    const [sample] = await collect(driver.metrics([spec.vmId], signal))
    cpu.push(sample!.cpuNs)
    ram.add(sample!.ramUsedMiB!)
  }
  expect(cpu.every((value, hour) => hour === 0 || value > cpu[hour - 1]!)).toBe(true)
  expect(cpu.at(-1)).toBeLessThan(BigInt(24 * 3600) * 1_000_000_000n)
  expect(ram.size).toBeGreaterThan(10)
  expect(Math.max(...ram)).toBeLessThan(spec.ramMiB)
})
