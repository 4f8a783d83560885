import { expect, test } from 'vitest'
import { GIB, type Driver, type MachineSpec, type VolumeSpec } from '../driver.ts'
import {
  changeTo,
  collect,
  create,
  expectKind,
  next,
  soon,
  stop,
  TEMPLATE,
  unknownId,
  volumesOf as allVolumesOf,
  type ConformanceContract,
} from './fixture.ts'

export const volumeContract: ConformanceContract = (fixture) => {
  const attach = async (spec: MachineSpec, volume: VolumeSpec): Promise<MachineSpec> => {
    await fixture().driver.ensureVolume(volume, null, soon(fixture()))
    await fixture().driver.ensureVolumeAttached(spec.vmId, volume, soon(fixture()))
    return { ...spec, volumes: [...spec.volumes, volume] }
  }
  const detach = (spec: MachineSpec, volume: VolumeSpec) => fixture().driver.ensureVolumeDetached(spec.vmId, volume, soon(fixture()))
  const volumesOf = async ({ vmId }: MachineSpec) => (await fixture().driver.findMachine(vmId, soon(fixture())))?.volumes
  const bytesOf = (spec: MachineSpec, { volumeId }: VolumeSpec) => fixture().guest.volumeBytes(spec.vmId, volumeId)
  const isOnHost = async ({ volumeId }: VolumeSpec) =>
    (await collect(fixture().driver.listVolumes(soon(fixture())))).some(({ kind, id }) => kind === 'volume' && id === volumeId)

  test('a volume is attached to a running machine and moves to another one with what was written', async () => {
    const [one, other, volume] = [await create(fixture()), await create(fixture()), fixture().volume()]
    const { driver, guest } = fixture()
    await attach(one, volume)
    await attach(one, volume)
    expect([await volumesOf(one), await guest.readVolume(one.vmId, volume.volumeId)]).toEqual([[volume.volumeId], ''])
    await guest.writeVolume(one.vmId, volume.volumeId, 'kept')
    expect(await bytesOf(one, volume)).toBe(GIB)
    await expectKind(driver.ensureVolumeAttached(other.vmId, volume, soon(fixture())), 'in_use')
    await expectKind(driver.ensureNoVolume(volume, soon(fixture())), 'in_use')
    await detach(one, volume)
    await fixture().other.ensureVolumeDetached(one.vmId, volume, soon(fixture()))
    expect([await volumesOf(one), await bytesOf(one, volume)]).toEqual([[], null])
    await attach(other, volume)
    expect(await guest.readVolume(other.vmId, volume.volumeId)).toBe('kept')
  })

  test('a volume stays over stop and start, a crash and a rebuild, and outlives its machine', async () => {
    const [before, volume] = [await create(fixture()), fixture().volume()]
    const { driver, guest } = fixture()
    const spec = await attach(before, volume)
    await guest.writeVolume(spec.vmId, volume.volumeId, 'kept')
    await changeTo(fixture(), spec)
    expect(await guest.readVolume(spec.vmId, volume.volumeId)).toBe('kept')
    await guest.crash(spec.vmId)
    const rebuilt = next(spec)
    await driver.ensureDisk(rebuilt, TEMPLATE, soon(fixture()))
    await changeTo(fixture(), rebuilt)
    expect(await guest.readVolume(spec.vmId, volume.volumeId)).toBe('kept')
    await driver.ensurePurged(spec.vmId, soon(fixture()))
    const other = await attach(await create(fixture()), volume)
    expect(await guest.readVolume(other.vmId, volume.volumeId)).toBe('kept')
  })

  test('a volume is attached to a machine that is off, and grows there and live; it never shrinks', async () => {
    const [before, volume] = [await create(fixture()), fixture().volume()]
    const { driver } = fixture()
    await stop(fixture(), before)
    const spec = await attach(before, volume)
    const sized = (sizeGiB: number) => driver.ensureVolumeSize(spec.vmId, { ...volume, sizeGiB }, soon(fixture()))
    expect(await sized(2)).toEqual({ sizeGiB: 2 })
    await changeTo(fixture(), spec)
    expect(await bytesOf(spec, volume)).toBe(2 * GIB)
    expect(await sized(3)).toEqual({ sizeGiB: 3 })
    expect(await sized(1)).toEqual({ sizeGiB: 3 })
    expect(await bytesOf(spec, volume)).toBe(3 * GIB)
    await stop(fixture(), spec)
    await detach(spec, volume)
    expect(await volumesOf(spec)).toEqual([])
  })

  test('a volume has the limits of disk I/O of its machine, which change live', async () => {
    const [before, volume] = [
      await create(fixture(), fixture().spec({ diskLimits: { iops: 500, miBPerSecond: null } })),
      fixture().volume(),
    ]
    const { driver } = fixture()
    const limits = async () => (await driver.findMachine(before.vmId, soon(fixture())))?.diskLimits
    const spec = await attach(before, volume)
    expect(await limits()).toEqual({ iops: 500, miBPerSecond: null })
    for (const diskLimits of [
      { iops: 900, miBPerSecond: 40 },
      { iops: null, miBPerSecond: null },
      { iops: null, miBPerSecond: 20 },
    ]) {
      await driver.ensureDefined({ ...spec, diskLimits }, soon(fixture()))
      expect(await limits()).toEqual(diskLimits)
    }
    await changeTo(fixture(), spec)
    expect(await limits()).toEqual({ iops: 500, miBPerSecond: null })
  })

  test('a volume is removed once no machine has it, however often that is asked for', async () => {
    const volume = fixture().volume()
    const { driver, other } = fixture()
    for (const each of [driver, other]) await each.ensureVolume(volume, null, soon(fixture()))
    expect(await isOnHost(volume)).toBe(volume.storageId === null)
    for (const each of [driver, other]) await each.ensureNoVolume(volume, soon(fixture()))
    expect(await isOnHost(volume)).toBe(false)
    await expectKind(driver.ensureVolumeAttached((await create(fixture())).vmId, volume, soon(fixture())), 'not_found')
  })

  const take = (on: Driver, volume: VolumeSpec, snapshotId: string, vmId: string | null) =>
    on.ensureVolumeSnapshot(volume, { snapshotId, vmId }, soon(fixture()))
  const removeSnapshot = (on: Driver, volume: VolumeSpec, snapshotId: string) =>
    on.ensureNoVolumeSnapshot(volume, { snapshotId, vmId: null }, soon(fixture()))

  test('a snapshot of a volume has what was written before, whether its machine runs, is off, or is none; each is restored', async () => {
    const [before, volume] = [await create(fixture()), fixture().volume()]
    const { driver, other, guest } = fixture()
    const { volumeId } = volume
    const spec = await attach(before, volume)
    const [running, off, detached] = [unknownId(), unknownId(), unknownId()]
    await guest.writeVolume(spec.vmId, volumeId, 'running')
    const made = await take(driver, volume, running, spec.vmId)
    expect(made.sizeBytes).toBeGreaterThan(0)
    expect(await take(other, volume, running, spec.vmId)).toEqual(made)
    await guest.writeVolume(spec.vmId, volumeId, 'off')
    await stop(fixture(), spec)
    await take(driver, volume, off, spec.vmId)
    await changeTo(fixture(), spec)
    await guest.writeVolume(spec.vmId, volumeId, 'detached')
    await detach(spec, volume)
    await take(driver, volume, detached, null)
    let current = volume
    for (const [snapshotId, text] of [
      [off, 'off'],
      [running, 'running'],
      [detached, 'detached'],
    ] as const) {
      const restored = next(current)
      for (const each of [driver, other]) await each.ensureVolume(restored, { volumeId, snapshotId }, soon(fixture()))
      for (const each of [driver, other]) await each.ensureNoVolume(current, soon(fixture()))
      await driver.ensureVolumeAttached(spec.vmId, restored, soon(fixture()))
      expect(await guest.readVolume(spec.vmId, volumeId)).toBe(text)
      await detach(spec, restored)
      current = restored
    }
    for (const each of [running, off, detached]) await removeSnapshot(driver, volume, each)
    await driver.ensureNoVolume(current, soon(fixture()))
    expect([await isOnHost(volume), await allVolumesOf(fixture(), volumeId)]).toEqual([false, []])
  })

  test('a volume made from a snapshot of another one outlives both', async () => {
    const [spec, volume, larger] = [await create(fixture()), fixture().volume(), { ...fixture().volume(), sizeGiB: 2 }]
    const { driver, other, guest } = fixture()
    const source = { volumeId: volume.volumeId, snapshotId: unknownId() }
    await attach(spec, volume)
    await guest.writeVolume(spec.vmId, volume.volumeId, 'kept')
    await take(driver, volume, source.snapshotId, spec.vmId)
    await guest.writeVolume(spec.vmId, volume.volumeId, 'later')
    await driver.ensureVolume(larger, source, soon(fixture()))
    await detach(spec, volume)
    for (const each of [driver, other]) await removeSnapshot(each, volume, source.snapshotId)
    await driver.ensureNoVolume(volume, soon(fixture()))
    expect(await allVolumesOf(fixture(), volume.volumeId)).toEqual([])
    await driver.ensureVolumeAttached(spec.vmId, larger, soon(fixture()))
    expect([await guest.readVolume(spec.vmId, larger.volumeId), await bytesOf(spec, larger)]).toEqual(['kept', 2 * GIB])
    await expectKind(driver.ensureVolume(fixture().volume(), source, soon(fixture())), 'not_found')
  })

  test('attaching to a machine that does not exist fails, and nothing is detached from it', async () => {
    const volume = fixture().volume()
    await fixture().driver.ensureVolume(volume, null, soon(fixture()))
    await expectKind(fixture().driver.ensureVolumeAttached(unknownId(), volume, soon(fixture())), 'not_found')
    await fixture().driver.ensureVolumeDetached(unknownId(), volume, soon(fixture()))
  })
}
