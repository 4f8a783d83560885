import { expect, test } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import type { MachineSpec } from '../driver.ts'
import {
  changeTo,
  create,
  expectKind,
  expectNothingLeft,
  next,
  soon,
  stop,
  TEMPLATE,
  volumesOf,
  type ConformanceContract,
  type DriverFixture,
} from './fixture.ts'

const RESCUE = 7

const rescued = (spec: MachineSpec): MachineSpec => ({ ...spec, rescue: { generation: RESCUE, template: spec.template } })

/** Its machine runs the rescue system then. */
async function rescue(fixture: DriverFixture, spec: MachineSpec): Promise<void> {
  await fixture.driver.ensureDisk({ ...spec, generation: RESCUE, diskGiB: 1 }, TEMPLATE, soon(fixture))
  await changeTo(fixture, rescued(spec))
}

export const rescueContract: ConformanceContract = (fixture) => {
  const find = (vmId: string) => fixture().driver.findMachine(vmId, soon(fixture()))

  test('a rescue system starts instead of its own, with the disk beside it, until it is taken away', async () => {
    const spec = await create(fixture())
    await fixture().guest.write(spec.vmId, 'mine')
    await rescue(fixture(), spec)
    expect(await find(spec.vmId)).toMatchObject({ power: 'running', generation: spec.generation, rescueGeneration: RESCUE })
    expect(await fixture().guest.read(spec.vmId)).toBeNull()
    expect(await fixture().guest.readOwnDisk(spec.vmId)).toBe('mine')
    await changeTo(fixture(), spec)
    await fixture().driver.ensureNoDisk(spec.vmId, RESCUE, soon(fixture()))
    await fixture().other.ensureNoDisk(spec.vmId, RESCUE, soon(fixture()))
    expect(await find(spec.vmId)).toMatchObject({ power: 'running', generation: spec.generation, rescueGeneration: null })
    expect(await fixture().guest.read(spec.vmId)).toBe('mine')
    expect((await volumesOf(fixture(), spec.vmId)).map(({ generation }) => generation)).toEqual([spec.generation, spec.generation])
  })

  test('a machine in rescue stays so until it is stopped, and neither of its disks can be removed', async () => {
    const spec = await create(fixture())
    await expectKind(fixture().driver.ensureRunning(rescued(spec), soon(fixture())), 'invalid_state')
    await rescue(fixture(), spec)
    await expectKind(fixture().driver.ensureRunning(spec, soon(fixture())), 'invalid_state')
    await expectKind(fixture().driver.ensureDefined(spec, soon(fixture())), 'invalid_state')
    await fixture().guest.write(spec.vmId, 'in rescue')
    await changeTo(fixture(), rescued(spec))
    expect(await fixture().guest.read(spec.vmId)).toBe('in rescue')
    for (const generation of [spec.generation, RESCUE])
      await expectKind(fixture().driver.ensureNoDisk(spec.vmId, generation, soon(fixture())), 'in_use')
    await stop(fixture(), spec)
    await expectKind(fixture().driver.ensureNoDisk(spec.vmId, RESCUE, soon(fixture())), 'in_use')
    await fixture().driver.ensureDefined(spec, soon(fixture()))
    expect(await find(spec.vmId)).toMatchObject({ power: 'stopped', rescueGeneration: null })
  })

  test('a machine does not start in rescue without the disk of that', async () => {
    const spec = await create(fixture())
    await stop(fixture(), spec)
    await expectKind(fixture().driver.ensureRunning(rescued(spec), soon(fixture())), 'not_found')
    await fixture().driver.ensureRunning(spec, soon(fixture()))
    expect(await find(spec.vmId)).toMatchObject({ power: 'running', rescueGeneration: null })
  })

  test("a snapshot that is made in rescue is of the machine's own disk", async () => {
    const spec = await create(fixture())
    await fixture().guest.write(spec.vmId, 'before')
    await rescue(fixture(), spec)
    await fixture().guest.write(spec.vmId, 'of the rescue system')
    const snapshotId = newId()
    await fixture().driver.ensureSnapshot(spec.vmId, snapshotId, soon(fixture()))
    await fixture().driver.ensureDisk(next(spec), { from: 'snapshot', snapshotId }, soon(fixture()))
    await changeTo(fixture(), next(spec))
    expect(await fixture().guest.read(spec.vmId)).toBe('before')
  })

  test('a machine in rescue is purged with both disks', async () => {
    const spec = await create(fixture())
    await rescue(fixture(), spec)
    await fixture().driver.ensurePurged(spec.vmId, soon(fixture()))
    await expectNothingLeft(fixture(), spec.vmId)
  })
}
