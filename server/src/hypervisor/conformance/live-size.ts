import { expect, test } from 'vitest'
import type { ComputeSize, MachineSpec } from '../driver.ts'
import { RAM_BLOCK_MIB } from '../room.ts'
import { changeTo, create, expectKind, soon, stop, unknownId, type ConformanceContract, type DriverFixture } from './fixture.ts'

/** With room for RAM. */
const RAM_MIB = 4096
const MORE_MIB = 512

/** As much as there is room for, of a machine that has room for one part at least. */
export async function moreThan(fixture: DriverFixture, spec: MachineSpec, times = 1): Promise<MachineSpec> {
  const { room } = (await fixture.driver.findMachine(spec.vmId, soon(fixture)))!
  return { ...spec, vcpu: Math.min(spec.vcpu + times, room.vcpu), ramMiB: Math.min(spec.ramMiB + times * MORE_MIB, room.ramMiB) }
}

export const sizeIn = ({ vcpu, ramMiB }: ComputeSize): ComputeSize => ({ vcpu, ramMiB })

/** A kernel keeps some of it. */
export async function expectUsed({ guest }: DriverFixture, spec: MachineSpec, before: ComputeSize, from: MachineSpec): Promise<void> {
  const uses = await guest.size(spec.vmId)
  expect(uses.vcpu).toBe(spec.vcpu)
  expect(uses.ramMiB - before.ramMiB).toBeGreaterThanOrEqual((spec.ramMiB - from.ramMiB) * 0.95)
}

export const liveSizeContract: ConformanceContract = (fixture) => {
  const made = () => create(fixture(), fixture().spec({ ramMiB: RAM_MIB }))
  const found = async ({ vmId }: MachineSpec) => (await fixture().driver.findMachine(vmId, soon(fixture())))!
  const grow = (spec: MachineSpec, driver = fixture().driver) => driver.ensureLiveSize(spec, soon(fixture()))

  test('a machine grows while it runs, its guest uses what it got, and calls of two processes have one effect', async () => {
    const spec = await made()
    const [before, bootId] = [await fixture().guest.size(spec.vmId), await fixture().guest.bootId(spec.vmId)]
    for (const times of [1, 2]) {
      const larger = await moreThan(fixture(), spec, times)
      const answers = await Promise.all([grow(larger), grow(larger, fixture().other)])
      for (const answer of [...answers, await grow(larger)]) expect(answer).toEqual({ ...sizeIn(larger), guestReason: null })
      expect(await found(spec)).toMatchObject({ power: 'running', ...sizeIn(larger) })
      await expectUsed(fixture(), larger, before, spec)
      await fixture().driver.ensureRunning(larger, soon(fixture()))
      await fixture().driver.ensureDefined(larger, soon(fixture()))
    }
    expect(await fixture().guest.bootId(spec.vmId)).toBe(bootId)
  })

  test('the room of a machine is what it can still get: RAM as often as it has slots', async () => {
    const spec = await made()
    let { room, ramMiB } = await found(spec)
    while (room.ramMiB >= ramMiB + RAM_BLOCK_MIB) {
      expect(await grow({ ...spec, ramMiB: ramMiB + RAM_BLOCK_MIB })).toMatchObject({ ramMiB: ramMiB + RAM_BLOCK_MIB, guestReason: null })
      ;({ room, ramMiB } = await found(spec))
    }
    expect(room.ramMiB).toBe(ramMiB)
    await expectKind(grow({ ...spec, ramMiB: ramMiB + RAM_BLOCK_MIB }), 'invalid_state')
    const larger = { ...spec, ramMiB, vcpu: Math.min(spec.vcpu + 1, room.vcpu) }
    expect(await grow(larger)).toEqual({ ...sizeIn(larger), guestReason: null })
    await stop(fixture(), larger)
    await changeTo(fixture(), larger)
    expect((await found(spec)).room.ramMiB >= ramMiB).toBe(true)
  })

  test('what a machine got is taken back while it runs, as far as it is released', async () => {
    const spec = await made()
    const larger = await moreThan(fixture(), spec)
    await grow(larger)
    const left = await grow(spec)
    expect([spec.vcpu, larger.vcpu]).toContain(left.vcpu)
    expect([spec.ramMiB, larger.ramMiB]).toContain(left.ramMiB)
    expect(await found(spec)).toMatchObject({ power: 'running', ...sizeIn(left) })
    expect((await fixture().guest.size(spec.vmId)).vcpu).toBe(left.vcpu)
    await fixture().driver.ensureRunning({ ...spec, ...sizeIn(left) }, soon(fixture()))
    expect(await grow(larger)).toEqual({ ...sizeIn(larger), guestReason: null })
  })

  test('what a machine got stays when its guest reboots, and when it is stopped and started', async () => {
    const spec = await made()
    const before = await fixture().guest.size(spec.vmId)
    const larger = await moreThan(fixture(), spec)
    await grow(larger)
    await fixture().driver.ensureRestarted(spec.vmId, { actionId: unknownId(), graceMs: fixture().patienceMs }, soon(fixture()))
    await fixture().driver.ensureReady(spec.vmId, { timeoutMs: fixture().patienceMs }, soon(fixture()))
    expect(await found(spec)).toMatchObject({ power: 'running', ...sizeIn(larger) })
    await expectUsed(fixture(), larger, before, spec)
    await stop(fixture(), larger)
    expect(await found(spec)).toMatchObject({ power: 'stopped', ...sizeIn(larger) })
    await changeTo(fixture(), larger)
    expect(await found(spec)).toMatchObject({ power: 'running', ...sizeIn(larger) })
    await expectUsed(fixture(), larger, before, spec)
  })

  test('a machine does not grow above its room, and one that is off is left as it is', async () => {
    const spec = await create(fixture())
    const { room } = await found(spec)
    expect([room.vcpu >= spec.vcpu, room.ramMiB >= spec.ramMiB]).toEqual([true, true])
    await expectKind(grow({ ...spec, vcpu: room.vcpu + 1 }), 'invalid_state')
    await expectKind(grow({ ...spec, ramMiB: room.ramMiB + MORE_MIB }), 'invalid_state')
    expect(await found(spec)).toMatchObject({ power: 'running', ...sizeIn(spec), room })
    await stop(fixture(), spec)
    await grow({ ...spec, vcpu: spec.vcpu + 1 })
    expect(await found(spec)).toMatchObject({ power: 'stopped', ...sizeIn(spec) })
    await grow(fixture().spec())
  })
}
