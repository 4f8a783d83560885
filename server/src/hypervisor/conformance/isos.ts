import { expect, test } from 'vitest'
import type { IsoRef, MachineSpec } from '../driver.ts'
import { collect, create, expectKind, soon, stop, TEMPLATE, type ConformanceContract, type DriverFixture } from './fixture.ts'

const filesOf = async (fixture: DriverFixture, { imageId }: IsoRef) =>
  (await collect(fixture.driver.listVolumes(soon(fixture)))).filter(({ kind, id }) => kind === 'iso' && id === imageId)

/** Stops it, and starts it again with what is in its drive, whatever system that is. */
async function startWith(fixture: DriverFixture, spec: MachineSpec): Promise<void> {
  await stop(fixture, spec)
  await fixture.driver.ensureRunning(spec, soon(fixture))
}

export const isoContract: ConformanceContract = (fixture) => {
  const find = async (vmId: string) => (await fixture().driver.findMachine(vmId, soon(fixture())))?.isoId
  const insert = (vmId: string, iso: IsoRef | null) => fixture().driver.ensureInDrive(vmId, iso, soon(fixture()))
  const remove = ({ imageId }: IsoRef) => fixture().driver.ensureNoIso(imageId, soon(fixture()))

  test('an ISO image is on the host as it is, once, until it is removed', async () => {
    const iso = await fixture().iso()
    await Promise.all([fixture().driver, fixture().other, fixture().driver].map((each) => each.ensureIso(iso, soon(fixture()))))
    expect(await filesOf(fixture(), iso)).toMatchObject([{ complete: true, vmId: null, capacityBytes: iso.sizeBytes }])
    await remove(iso)
    await remove(iso)
    expect(await filesOf(fixture(), iso)).toEqual([])
  })

  test('a machine is started with an ISO image, which stays on the host while the machine has it', async () => {
    const iso = await fixture().iso()
    const spec = fixture().spec({ iso })
    await fixture().driver.ensureDisk(spec, TEMPLATE, soon(fixture()))
    await fixture().driver.ensureDefined(spec, soon(fixture()))
    expect(await find(spec.vmId)).toBe(iso.imageId)
    await fixture().driver.ensureRunning(spec, soon(fixture()))
    await fixture().other.ensureRunning(spec, soon(fixture()))
    expect(await find(spec.vmId)).toBe(iso.imageId)
    expect(await insert(spec.vmId, iso)).toEqual({ isoId: iso.imageId })
    await expectKind(remove(iso), 'in_use')
    await stop(fixture(), spec)
    await expectKind(remove(iso), 'in_use')
    expect(await insert(spec.vmId, null)).toEqual({ isoId: null })
    expect(await find(spec.vmId)).toBeNull()
    await remove(iso)
    await fixture().driver.ensureRunning({ ...spec, iso: undefined }, soon(fixture()))
    expect(await find(spec.vmId)).toBeNull()
    expect(await filesOf(fixture(), iso)).toEqual([])
  })

  test('a drive is emptied and filled while its machine runs', async () => {
    const [iso, more] = [await fixture().iso(), await fixture().iso()]
    const spec = await create(fixture())
    await startWith(fixture(), { ...spec, iso })
    for (const medium of [null, null, more, more, iso, null]) {
      expect(await insert(spec.vmId, medium)).toEqual({ isoId: medium?.imageId ?? null })
      expect(await find(spec.vmId)).toBe(medium?.imageId ?? null)
    }
    await remove(iso)
    await remove(more)
    await startWith(fixture(), spec)
    expect(await insert(spec.vmId, null)).toEqual({ isoId: null })
  })

  test('an ISO image is read within the limits of the disks, also one that is put in while they change', async () => {
    const [iso, more] = [await fixture().iso(), await fixture().iso()]
    const limits = async (vmId: string) => (await fixture().driver.findMachine(vmId, soon(fixture())))?.diskLimits
    const [first, second] = [
      { iops: 500, miBPerSecond: 20 },
      { iops: null, miBPerSecond: 40 },
    ]
    const spec = await create(fixture(), fixture().spec({ diskLimits: first }))
    await startWith(fixture(), { ...spec, iso })
    expect(await limits(spec.vmId)).toEqual(first)
    await insert(spec.vmId, more)
    expect(await limits(spec.vmId)).toEqual(first)
    await insert(spec.vmId, null)
    await fixture().driver.ensureDefined({ ...spec, diskLimits: second }, soon(fixture()))
    await insert(spec.vmId, more)
    expect(await limits(spec.vmId)).toEqual(second)
    await fixture().driver.ensureDefined({ ...spec, iso: more, diskLimits: first }, soon(fixture()))
    expect(await limits(spec.vmId)).toEqual(first)
    await stop(fixture(), spec)
    expect(await limits(spec.vmId)).toEqual(first)
  })

  test('a machine that runs without a drive has none until it is started anew', async () => {
    const iso = await fixture().iso()
    const spec = await create(fixture())
    const boot = await fixture().guest.bootId(spec.vmId)
    expect(await insert(spec.vmId, iso)).toEqual({ isoId: null })
    await fixture().driver.ensureRunning({ ...spec, iso }, soon(fixture()))
    await fixture().driver.ensureDefined({ ...spec, iso }, soon(fixture()))
    expect(await find(spec.vmId)).toBeNull()
    expect(await fixture().guest.bootId(spec.vmId)).toBe(boot)
    await startWith(fixture(), { ...spec, iso })
    expect(await find(spec.vmId)).toBe(iso.imageId)
    expect(await insert('cnowhere', iso)).toEqual({ isoId: null })
  })

  test('a rescue system starts without it, and it is there again afterwards', async () => {
    const iso = await fixture().iso()
    const spec = fixture().spec({ iso })
    const rescue = { generation: 7, template: spec.template }
    await fixture().driver.ensureDisk(spec, TEMPLATE, soon(fixture()))
    await fixture().driver.ensureDisk({ ...spec, generation: 7, diskGiB: 1 }, TEMPLATE, soon(fixture()))
    await fixture().driver.ensureRunning({ ...spec, rescue }, soon(fixture()))
    expect(await find(spec.vmId)).toBeNull()
    await startWith(fixture(), spec)
    expect(await find(spec.vmId)).toBe(iso.imageId)
  })
}
