import { expect, test } from 'vitest'
import { GIB } from '../driver.ts'
import { changeTo, create, expectKind, next, soon, stop, TEMPLATE, volumesOf, type ConformanceContract } from './fixture.ts'

export const diskContract: ConformanceContract = (fixture) => {
  const capacityOf = async (vmId: string, generation: number): Promise<number | undefined> =>
    (await volumesOf(fixture(), vmId)).find((volume) => volume.kind === 'disk' && volume.generation === generation)?.capacityBytes

  test('a disk that exists keeps its content', async () => {
    const spec = await create(fixture())
    await fixture().guest.write(spec.vmId, 'kept')
    await fixture().other.ensureDisk(spec, TEMPLATE, soon(fixture()))
    await changeTo(fixture(), spec)
    expect(await fixture().guest.read(spec.vmId)).toBe('kept')
  })

  test('a disk is created once, also for two concurrent processes', async () => {
    const spec = fixture().spec()
    await Promise.all([fixture().driver, fixture().other].map((driver) => driver.ensureDisk(spec, TEMPLATE, soon(fixture()))))
    const volumes = (await volumesOf(fixture(), spec.vmId)).map(({ kind, complete }) => ({ kind, complete }))
    expect(volumes).toEqual([
      { kind: 'disk', complete: true },
      { kind: 'seed', complete: true },
    ])
  })

  test('a disk that is said to be in its storage backend is not made where it is not', async () => {
    const spec = fixture().spec()
    await expectKind(fixture().driver.ensureDisk(spec, { from: 'pool' }, soon(fixture())), 'not_found')
    await fixture().driver.ensurePurged(spec.vmId, soon(fixture()))
    expect(await volumesOf(fixture(), spec.vmId)).toEqual([])
  })

  test('a stopped machine grows, and keeps its content', async () => {
    const spec = await create(fixture())
    const larger = { ...spec, vcpu: spec.vcpu + 1, ramMiB: spec.ramMiB * 2, diskGiB: spec.diskGiB + 2 }
    await fixture().guest.write(spec.vmId, 'before the upgrade')
    await expectKind(fixture().driver.ensureDefined(larger, soon(fixture())), 'invalid_state')
    await expectKind(fixture().driver.ensureRunning(larger, soon(fixture())), 'invalid_state')
    await stop(fixture(), spec)
    expect(await fixture().driver.ensureDefined(larger, soon(fixture()))).toEqual({ diskGiB: larger.diskGiB })
    expect(await fixture().driver.ensureDefined(larger, soon(fixture()))).toEqual({ diskGiB: larger.diskGiB })
    await changeTo(fixture(), larger)
    expect(await fixture().driver.findMachine(spec.vmId, soon(fixture()))).toMatchObject({ vcpu: larger.vcpu, ramMiB: larger.ramMiB })
    expect(await capacityOf(spec.vmId, spec.generation)).toBe(larger.diskGiB * GIB)
    expect(await fixture().guest.read(spec.vmId)).toBe('before the upgrade')
  })

  test('the disk of a running machine grows, and the machine runs on', async () => {
    const spec = await create(fixture())
    await fixture().guest.write(spec.vmId, 'before the growth')
    const larger = { ...spec, diskGiB: spec.diskGiB + 2 }
    expect(await fixture().driver.ensureDefined(larger, soon(fixture()))).toEqual({ diskGiB: larger.diskGiB })
    expect(await fixture().other.ensureDefined(larger, soon(fixture()))).toEqual({ diskGiB: larger.diskGiB })
    expect(await fixture().driver.ensureDefined(spec, soon(fixture()))).toEqual({ diskGiB: larger.diskGiB })
    expect(await fixture().driver.findMachine(spec.vmId, soon(fixture()))).toMatchObject({ power: 'running' })
    expect(await capacityOf(spec.vmId, spec.generation)).toBe(larger.diskGiB * GIB)
    expect(await fixture().guest.read(spec.vmId)).toBe('before the growth')
  })

  test('the limits of disk I/O hold from the start, and change live', async () => {
    const spec = await create(fixture(), fixture().spec({ diskLimits: { iops: 500, miBPerSecond: 20 } }))
    const limits = async () => (await fixture().driver.findMachine(spec.vmId, soon(fixture())))?.diskLimits
    expect(await limits()).toEqual({ iops: 500, miBPerSecond: 20 })
    for (const diskLimits of [
      { iops: null, miBPerSecond: 40 },
      { iops: 900, miBPerSecond: null },
      { iops: null, miBPerSecond: null },
    ]) {
      await fixture().other.ensureDefined({ ...spec, diskLimits }, soon(fixture()))
      expect(await limits()).toEqual(diskLimits)
    }
    await stop(fixture(), spec)
    expect(await limits()).toEqual({ iops: null, miBPerSecond: null })
  })

  test('a disk never shrinks, while vCPU and RAM do', async () => {
    const spec = await create(fixture())
    await stop(fixture(), spec)
    const smaller = { ...spec, diskGiB: spec.diskGiB - 1, ramMiB: spec.ramMiB / 2 }
    expect(await fixture().driver.ensureDefined(smaller, soon(fixture()))).toEqual({ diskGiB: spec.diskGiB })
    expect(await capacityOf(spec.vmId, spec.generation)).toBe(spec.diskGiB * GIB)
    expect(await fixture().driver.findMachine(spec.vmId, soon(fixture()))).toMatchObject({ ramMiB: smaller.ramMiB })
  })

  test('a rebuild creates a disk of the next generation, and can be rolled back until the old one is removed', async () => {
    const spec = await create(fixture())
    const rebuilt = next(spec)
    await fixture().guest.write(spec.vmId, 'old')
    await fixture().driver.ensureDisk(rebuilt, TEMPLATE, soon(fixture()))
    await changeTo(fixture(), rebuilt)
    expect(await fixture().guest.read(spec.vmId)).toBeNull()
    await changeTo(fixture(), spec)
    await fixture().driver.ensureNoDisk(spec.vmId, rebuilt.generation, soon(fixture()))
    expect(await fixture().guest.read(spec.vmId)).toBe('old')
    expect(await capacityOf(spec.vmId, rebuilt.generation)).toBeUndefined()
  })

  test('the disk in use cannot be removed; removing another one is idempotent', async () => {
    const spec = await create(fixture())
    const rebuilt = next(spec)
    await fixture().driver.ensureDisk(rebuilt, TEMPLATE, soon(fixture()))
    await changeTo(fixture(), rebuilt)
    await expectKind(fixture().driver.ensureNoDisk(spec.vmId, rebuilt.generation, soon(fixture())), 'in_use')
    await fixture().driver.ensureNoDisk(spec.vmId, spec.generation, soon(fixture()))
    await fixture().driver.ensureNoDisk(spec.vmId, spec.generation, soon(fixture()))
    const disks = (await volumesOf(fixture(), spec.vmId)).filter((volume) => volume.kind === 'disk')
    expect(disks.map((disk) => disk.generation)).toEqual([rebuilt.generation])
  })

  test('a template stays while a disk is a layer on it', async () => {
    const spec = fixture().spec({ storageId: null })
    await fixture().driver.ensureTemplate(spec.template, soon(fixture()))
    await fixture().driver.ensureTemplate(spec.template, soon(fixture()))
    await fixture().driver.ensureDisk(spec, TEMPLATE, soon(fixture()))
    await expectKind(fixture().driver.ensureNoTemplate(spec.template.id, soon(fixture())), 'in_use')
  })

  test('two machines cannot share a uuid', async () => {
    const { uuid } = await create(fixture())
    await expectKind(create(fixture(), fixture().spec({ uuid })), 'conflict')
  })
}
