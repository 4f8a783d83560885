import { expect, test } from 'vitest'
import { GIB } from '../driver.ts'
import { changeTo, create, expectKind, next, soon, stop, TEMPLATE, volumesOf, type ConformanceContract } from './fixture.ts'

export const diskContract: ConformanceContract = (rig) => {
  const capacityOf = async (vmId: string, generation: number): Promise<number | undefined> =>
    (await volumesOf(rig(), vmId)).find((volume) => volume.kind === 'disk' && volume.generation === generation)?.capacityBytes

  test('a disk that exists keeps its content', async () => {
    const spec = await create(rig())
    await rig().guest.write(spec.vmId, 'kept')
    await rig().other.ensureDisk(spec, TEMPLATE, soon(rig()))
    await changeTo(rig(), spec)
    expect(await rig().guest.read(spec.vmId)).toBe('kept')
  })

  test('a disk is created once, also for two concurrent processes', async () => {
    const spec = rig().spec()
    await Promise.all([rig().driver, rig().other].map((driver) => driver.ensureDisk(spec, TEMPLATE, soon(rig()))))
    const volumes = (await volumesOf(rig(), spec.vmId)).map(({ kind, complete }) => ({ kind, complete }))
    expect(volumes).toEqual([
      { kind: 'disk', complete: true },
      { kind: 'seed', complete: true },
    ])
  })

  test('a stopped machine grows, and keeps its content', async () => {
    const spec = await create(rig())
    const larger = { ...spec, vcpu: spec.vcpu + 1, ramMiB: spec.ramMiB * 2, diskGiB: spec.diskGiB + 2 }
    await rig().guest.write(spec.vmId, 'before the upgrade')
    await expectKind(rig().driver.ensureDefined(larger, soon(rig())), 'invalid_state')
    await expectKind(rig().driver.ensureRunning(larger, soon(rig())), 'invalid_state')
    await stop(rig(), spec)
    expect(await rig().driver.ensureDefined(larger, soon(rig()))).toEqual({ diskGiB: larger.diskGiB })
    expect(await rig().driver.ensureDefined(larger, soon(rig()))).toEqual({ diskGiB: larger.diskGiB })
    await changeTo(rig(), larger)
    expect(await rig().driver.findMachine(spec.vmId, soon(rig()))).toMatchObject({ vcpu: larger.vcpu, ramMiB: larger.ramMiB })
    expect(await capacityOf(spec.vmId, spec.generation)).toBe(larger.diskGiB * GIB)
    expect(await rig().guest.read(spec.vmId)).toBe('before the upgrade')
  })

  test('the limits of disk I/O hold from the start, and change live', async () => {
    const spec = await create(rig(), rig().spec({ diskLimits: { iops: 500, miBPerSecond: 20 } }))
    const limits = async () => (await rig().driver.findMachine(spec.vmId, soon(rig())))?.diskLimits
    expect(await limits()).toEqual({ iops: 500, miBPerSecond: 20 })
    for (const diskLimits of [
      { iops: null, miBPerSecond: 40 },
      { iops: 900, miBPerSecond: null },
      { iops: null, miBPerSecond: null },
    ]) {
      await rig().other.ensureDefined({ ...spec, diskLimits }, soon(rig()))
      expect(await limits()).toEqual(diskLimits)
    }
    await stop(rig(), spec)
    expect(await limits()).toEqual({ iops: null, miBPerSecond: null })
  })

  test('a disk never shrinks, while vCPU and RAM do', async () => {
    const spec = await create(rig())
    await stop(rig(), spec)
    const smaller = { ...spec, diskGiB: spec.diskGiB - 1, ramMiB: spec.ramMiB / 2 }
    expect(await rig().driver.ensureDefined(smaller, soon(rig()))).toEqual({ diskGiB: spec.diskGiB })
    expect(await capacityOf(spec.vmId, spec.generation)).toBe(spec.diskGiB * GIB)
    expect(await rig().driver.findMachine(spec.vmId, soon(rig()))).toMatchObject({ ramMiB: smaller.ramMiB })
  })

  test('a rebuild creates a disk of the next generation, and can be rolled back until the old one is removed', async () => {
    const spec = await create(rig())
    const rebuilt = next(spec)
    await rig().guest.write(spec.vmId, 'old')
    await rig().driver.ensureDisk(rebuilt, TEMPLATE, soon(rig()))
    await changeTo(rig(), rebuilt)
    expect(await rig().guest.read(spec.vmId)).toBeNull()
    await changeTo(rig(), spec)
    await rig().driver.ensureNoDisk(spec.vmId, rebuilt.generation, soon(rig()))
    expect(await rig().guest.read(spec.vmId)).toBe('old')
    expect(await capacityOf(spec.vmId, rebuilt.generation)).toBeUndefined()
  })

  test('the disk in use cannot be removed; removing another one is idempotent', async () => {
    const spec = await create(rig())
    const rebuilt = next(spec)
    await rig().driver.ensureDisk(rebuilt, TEMPLATE, soon(rig()))
    await changeTo(rig(), rebuilt)
    await expectKind(rig().driver.ensureNoDisk(spec.vmId, rebuilt.generation, soon(rig())), 'in_use')
    await rig().driver.ensureNoDisk(spec.vmId, spec.generation, soon(rig()))
    await rig().driver.ensureNoDisk(spec.vmId, spec.generation, soon(rig()))
    const disks = (await volumesOf(rig(), spec.vmId)).filter((volume) => volume.kind === 'disk')
    expect(disks.map((disk) => disk.generation)).toEqual([rebuilt.generation])
  })

  test('a template stays while a disk is a layer on it', async () => {
    const { template } = rig().spec()
    await rig().driver.ensureTemplate(template, soon(rig()))
    await rig().driver.ensureTemplate(template, soon(rig()))
    await rig().driver.ensureDisk(rig().spec(), TEMPLATE, soon(rig()))
    await expectKind(rig().driver.ensureNoTemplate(template.id, soon(rig())), 'in_use')
  })

  test('two machines cannot share a uuid', async () => {
    const { uuid } = await create(rig())
    await expectKind(create(rig(), rig().spec({ uuid })), 'conflict')
  })
}
