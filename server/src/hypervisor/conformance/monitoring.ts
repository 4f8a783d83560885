// Inventory, counters, metrics, events, the host itself.
import { expect, test, vi } from 'vitest'
import type { DriverEvent, MachineSpec } from '../driver.ts'
import { collect, create, expectKind, soon, stop, unknownId, volumesOf, type ConformanceContract } from './fixture.ts'

export const monitoringContract: ConformanceContract = (fixture) => {
  const patience = () => ({ timeout: fixture().patienceMs, interval: 20 })
  const countersOf = async ({ vmId, nics }: MachineSpec) => {
    const [counters] = (await collect(fixture().driver.counters([vmId], soon(fixture())))).filter((each) => each.mac === nics[0]!.mac)
    return counters
  }

  test('owner and resources of a machine are read from the host alone', async () => {
    const spec = await create(fixture())
    const { vmId, uuid, accountId, generation, vcpu, ramMiB } = spec
    const machine = (await collect(fixture().other.listMachines(soon(fixture())))).find((each) => each.uuid === uuid)
    expect(machine).toMatchObject({ vmId, uuid, accountId, generation, vcpu, ramMiB, power: 'running' })
    expect(machine?.nics).toMatchObject(spec.nics.map(({ mac }) => ({ mac })))
    const volumes = await volumesOf(fixture(), vmId)
    expect(volumes.map(({ kind, id, generation: made, complete }) => ({ kind, id, made, complete }))).toEqual([
      { kind: 'disk', id: vmId, made: generation, complete: true },
      { kind: 'seed', id: vmId, made: generation, complete: true },
    ])
    expect(await fixture().driver.findMachine(unknownId(), soon(fixture()))).toBeNull()
  })

  test('counters only grow within an epoch, and a new start is a new epoch', async () => {
    const spec = await create(fixture())
    const before = await countersOf(spec)
    await fixture().guest.send(spec.vmId, spec.nics[0]!.mac, 1_000_000)
    const after = await vi.waitUntil(async () => {
      const now = await countersOf(spec)
      return now && before && now.sentBytes - before.sentBytes >= 1_000_000n ? now : undefined
    }, patience())
    expect(after.epoch).toBe(before?.epoch)
    expect(after.receivedBytes).toBeGreaterThanOrEqual(before?.receivedBytes ?? 0n)
    await stop(fixture(), spec)
    expect(await countersOf(spec)).toBeUndefined()
    await fixture().driver.ensureRunning(spec, soon(fixture()))
    expect((await countersOf(spec))?.epoch).not.toBe(before?.epoch)
  })

  test('the counters of all machines include those of each', async () => {
    const specs = [await create(fixture()), await create(fixture())]
    const all = await collect(fixture().driver.counters('all', soon(fixture())))
    expect(all.map((each) => each.mac)).toEqual(expect.arrayContaining(specs.map((spec) => spec.nics[0]!.mac)))
  })

  test('metrics describe a running machine', async () => {
    const spec = await create(fixture())
    const [first] = await collect(fixture().driver.metrics([spec.vmId], soon(fixture())))
    const [second] = await collect(fixture().driver.metrics([spec.vmId], soon(fixture())))
    expect(first).toMatchObject({ vmId: spec.vmId, vcpu: spec.vcpu, ramMiB: spec.ramMiB })
    expect(second!.cpuNs).toBeGreaterThanOrEqual(first!.cpuNs)
    expect(second!.cpuWaitNs ?? 0n).toBeGreaterThanOrEqual(first!.cpuWaitNs ?? 0n)
    expect(second!.diskRequests).toBeGreaterThan(0n)
    expect(second!.diskNs).toBeGreaterThanOrEqual(first!.diskNs)
    await stop(fixture(), spec)
    expect(await collect(fixture().driver.metrics([spec.vmId], soon(fixture())))).toEqual([])
  })

  test('another process receives starts, stops and their reasons, until it unsubscribes', async () => {
    const heard: DriverEvent[] = []
    const end = await fixture().other.subscribe((event) => heard.push(event), soon(fixture()))
    expect(heard).not.toContainEqual({ type: 'missed' })
    const spec = await create(fixture())
    const { vmId } = spec
    await vi.waitFor(
      () =>
        expect(heard).toEqual(
          expect.arrayContaining([
            { type: 'started', vmId },
            { type: 'agent_connected', vmId },
          ]),
        ),
      patience(),
    )
    for (const [reason, act] of [
      ['user', () => stop(fixture(), spec)],
      ['guest', () => fixture().guest.powerOff(vmId)],
      ['crash', () => fixture().guest.crash(vmId)],
    ] as const) {
      await fixture().driver.ensureRunning(spec, soon(fixture()))
      await act()
      await vi.waitFor(() => expect(heard).toContainEqual({ type: 'stopped', vmId, reason }), patience())
      expect(await fixture().driver.findMachine(vmId, soon(fixture()))).toMatchObject({ power: 'stopped', stopReason: reason })
    }
    await end()
    const count = heard.length
    const witness: DriverEvent[] = []
    const endWitness = await fixture().driver.subscribe((event) => witness.push(event), soon(fixture()))
    await fixture().driver.ensureRunning(spec, soon(fixture()))
    await vi.waitFor(() => expect(witness).toContainEqual({ type: 'started', vmId }), patience())
    expect(heard).toHaveLength(count)
    await endWitness()
  })

  test('the host reports facts and health', async () => {
    const facts = await fixture().driver.facts(soon(fixture()))
    expect(Math.min(facts.vcpu, facts.ramMiB, facts.diskGiB)).toBeGreaterThan(0)
    expect(facts.diskFreeGiB).toBeLessThanOrEqual(facts.diskGiB)
    expect(facts.consoles).toContain('serial')
    expect(facts.uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect((await fixture().driver.health(soon(fixture()))).problems).toEqual([])
  })

  test('a host that is a chassis of no network controller elsewhere has no certificate to renew', async () => {
    const issue = () => Promise.reject(new Error('there is none'))
    expect(await fixture().driver.ensureChassisCertificate(new Date('2100-01-01'), issue, soon(fixture()))).toBeNull()
    expect(await fixture().driver.listCertificates(soon(fixture()))).toEqual([])
  })

  test('calls on a machine that does not exist fail, without retry', async () => {
    const vmId = unknownId()
    const { driver } = fixture()
    await expectKind(driver.ensureReady(vmId, { timeoutMs: 1 }, soon(fixture())), 'not_found')
    await expectKind(driver.ensureRestarted(vmId, { actionId: unknownId(), graceMs: 0 }, soon(fixture())), 'not_found')
    await expectKind(driver.ensureSnapshot(vmId, unknownId(), soon(fixture())), 'not_found')
    await expectKind(driver.ensureBackup(vmId, { backupId: unknownId(), parentId: null }, soon(fixture())), 'not_found')
    await expectKind(driver.readBackup(vmId, unknownId(), soon(fixture())), 'not_found')
    await expectKind(driver.readBackupExtents(vmId, unknownId(), soon(fixture())), 'not_found')
    await expectKind(driver.readSnapshotExtents(vmId, unknownId(), soon(fixture())), 'not_found')
    await expect(driver.screenshot(vmId, soon(fixture()))).rejects.toMatchObject({
      kind: 'not_found',
      retry: false,
      userMessage: expect.any(String),
    })
  })
}
