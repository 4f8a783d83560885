import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import { GIB, type DiskSource, type MachineSpec } from '../driver.ts'
import { stackLayers, type DiskContent, type Range } from '../extent.ts'
import { changeTo, create, expectKind, expectNothingLeft, next, soon, stop, TEMPLATE, volumesOf } from './fixture.ts'
import type { ConformanceContract, DriverFixture } from './fixture.ts'

/** Boots a new generation from a copy, as a restore does, and returns what the guest reads. */
const restoreOn =
  (fixture: () => DriverFixture) =>
  async (spec: MachineSpec, source: DiskSource): Promise<string | null> => {
    await fixture().driver.ensureDisk(spec, source, soon(fixture()))
    await changeTo(fixture(), spec)
    return fixture().guest.read(spec.vmId)
  }

export const snapshotContract: ConformanceContract = (fixture) => {
  const restored = restoreOn(fixture)

  test('a snapshot of a running machine can be restored repeatedly', async () => {
    const spec = await create(fixture())
    const snapshotId = newId()
    await fixture().guest.write(spec.vmId, 'at the snapshot')
    const taken = await fixture().driver.ensureSnapshot(spec.vmId, snapshotId, soon(fixture()))
    expect(taken.sizeBytes).toBeGreaterThan(0)
    await fixture().guest.write(spec.vmId, 'afterwards')
    expect(await fixture().other.ensureSnapshot(spec.vmId, snapshotId, soon(fixture()))).toEqual(taken)
    const first = next(spec)
    expect(await restored(first, { from: 'snapshot', snapshotId })).toBe('at the snapshot')
    await fixture().guest.write(spec.vmId, 'after the restore')
    expect(await restored(next(first), { from: 'snapshot', snapshotId })).toBe('at the snapshot')
  })

  test('a snapshot of a stopped machine outlives a rebuild', async () => {
    const spec = await create(fixture())
    const snapshotId = newId()
    await fixture().guest.write(spec.vmId, 'stopped')
    await stop(fixture(), spec)
    await fixture().driver.ensureSnapshot(spec.vmId, snapshotId, soon(fixture()))
    const rebuilt = next(spec)
    expect(await restored(rebuilt, TEMPLATE)).toBeNull()
    await fixture().driver.ensureNoDisk(spec.vmId, spec.generation, soon(fixture()))
    expect(await restored(next(rebuilt), { from: 'snapshot', snapshotId })).toBe('stopped')
  })

  test('a restored disk has the size of the present plan, and is never smaller than the copy', async () => {
    const spec = await create(fixture())
    const snapshotId = newId()
    await fixture().driver.ensureSnapshot(spec.vmId, snapshotId, soon(fixture()))
    await fixture().driver.ensureDisk({ ...next(spec), diskGiB: spec.diskGiB + 1 }, { from: 'snapshot', snapshotId }, soon(fixture()))
    await fixture().driver.ensureDisk({ ...next(next(spec)), diskGiB: 1 }, { from: 'snapshot', snapshotId }, soon(fixture()))
    const disks = (await volumesOf(fixture(), spec.vmId)).filter((volume) => volume.kind === 'disk')
    const sizes = disks.map((disk) => [disk.generation, disk.capacityBytes / GIB])
    expect(new Map(sizes as [number, number][])).toEqual(
      new Map([
        [1, spec.diskGiB],
        [2, spec.diskGiB + 1],
        [3, spec.diskGiB],
      ]),
    )
  })

  test('removing a snapshot is idempotent', async () => {
    const spec = await create(fixture())
    const snapshotId = newId()
    await fixture().driver.ensureSnapshot(spec.vmId, snapshotId, soon(fixture()))
    await fixture().driver.ensureNoSnapshot(spec.vmId, snapshotId, soon(fixture()))
    await fixture().driver.ensureNoSnapshot(spec.vmId, snapshotId, soon(fixture()))
    expect((await volumesOf(fixture(), spec.vmId)).map((volume) => volume.kind).sort()).toEqual(['disk', 'seed'])
    await expectKind(fixture().driver.ensureDisk(next(spec), { from: 'snapshot', snapshotId }, soon(fixture())), 'not_found')
    await fixture().driver.ensureDisk(spec, { from: 'snapshot', snapshotId }, soon(fixture())) // the disk exists: its source does not matter any more
  })

  test('a VM with snapshots of several generations is purged, and leaves nothing', async () => {
    const spec = await create(fixture())
    await fixture().driver.ensureSnapshot(spec.vmId, newId(), soon(fixture()))
    const snapshotId = newId()
    await fixture().driver.ensureSnapshot(spec.vmId, snapshotId, soon(fixture()))
    await restored(next(spec), { from: 'snapshot', snapshotId })
    await fixture().driver.ensureNoDisk(spec.vmId, spec.generation, soon(fixture()))
    await fixture().driver.ensureSnapshot(spec.vmId, newId(), soon(fixture()))
    await fixture().driver.ensurePurged(spec.vmId, soon(fixture()))
    await expectNothingLeft(fixture(), spec.vmId)
  })
}

/** Of disks in a storage backend. */
export const backendContract: ConformanceContract = (fixture) => {
  test('the machine of an evacuated VM is purged, and its disk stays', async () => {
    const spec = await create(fixture())
    await fixture().guest.write(spec.vmId, 'not on the host')
    for (const driver of [fixture().driver, fixture().other]) await driver.ensurePurgedKeepBackups(spec.vmId, soon(fixture()))
    await expectNothingLeft(fixture(), spec.vmId)
    await create(fixture(), spec)
    expect(await fixture().guest.read(spec.vmId)).toBe('not on the host')
  })

  test('a stopped machine gets incremental backups too, and only on the latest that was offloaded', async () => {
    const { driver } = fixture()
    const spec = await create(fixture())
    const ids = [newId(), newId(), newId()] as const
    const offloaded = async (backupId: string, parentId: string | null) => {
      const made = await driver.ensureBackup(spec.vmId, { backupId, parentId, parentIsRemote: true }, soon(fixture()))
      for (let repeat = 0; repeat < 2; repeat++)
        await driver.ensureBackupOffloaded(spec.vmId, { backupId, keepCheckpoint: true }, soon(fixture()))
      return made
    }
    await offloaded(ids[0], null)
    await stop(fixture(), spec)
    expect(await offloaded(ids[1], ids[0])).toMatchObject({ parentId: ids[0], consistency: 'FILESYSTEM' })
    expect(await offloaded(ids[2], ids[0])).toMatchObject({ parentId: null })
    const last = { backupId: newId(), parentId: ids[2], parentIsRemote: true }
    expect(await driver.ensureBackup(spec.vmId, last, soon(fixture()))).toMatchObject({ parentId: ids[2] })
    await driver.ensureBackupOffloaded(spec.vmId, { backupId: last.backupId, keepCheckpoint: false }, soon(fixture()))
    const next = { backupId: newId(), parentId: last.backupId, parentIsRemote: true }
    expect(await driver.ensureBackup(spec.vmId, next, soon(fixture()))).toMatchObject({ parentId: null })
    await driver.ensureNoBackup(spec.vmId, next.backupId, soon(fixture()))
    expect((await volumesOf(fixture(), spec.vmId)).map(({ kind }) => kind).sort()).toEqual(['disk', 'seed'])
  })

  test('a copy on the host outlives that in the storage backend, and is read instead of it', async () => {
    const { driver } = fixture()
    const { vmId } = await create(fixture())
    const backupId = newId()
    await fixture().guest.write(vmId, 'twice')
    await driver.ensureBackup(vmId, { backupId, parentId: null }, soon(fixture()))
    const open = () => driver.readBackup(vmId, backupId, soon(fixture()))
    const { sizeBytes } = await driver.ensureBackupCopy(vmId, { backupId, parentId: null }, open, soon(fixture()))
    expect(sizeBytes).toBeGreaterThan(0)
    await driver.ensureBackupOffloaded(vmId, { backupId, keepCheckpoint: true }, soon(fixture()))
    expect(await volumesOf(fixture(), vmId)).toContainEqual(expect.objectContaining({ kind: 'backup', id: backupId, storageId: null }))
    const layer = await driver.readBackupExtents(vmId, backupId, soon(fixture()))
    const spec = fixture().spec()
    const stored = { backupId, storageId: spec.storageId }
    await driver.ensureBackupFromExtents(spec.vmId, stored, () => stackLayers([layer]), soon(fixture()))
    await driver.ensureDisk(spec, { from: 'backup', backupId }, soon(fixture()))
    await create(fixture(), spec)
    expect(await fixture().guest.read(spec.vmId)).toBe('twice')
    await driver.ensureNoBackup(vmId, backupId, soon(fixture()))
    expect((await volumesOf(fixture(), vmId)).map(({ kind }) => kind).sort()).toEqual(['disk', 'seed'])
  })
}

/** Of disks on the host. */
export const hostContract: ConformanceContract = (fixture) => {
  test('the machine of an evacuated VM is purged, and its backups stay', async () => {
    const spec = await create(fixture())
    const backupId = newId()
    await fixture().driver.ensureSnapshot(spec.vmId, newId(), soon(fixture()))
    await fixture().driver.ensureBackup(spec.vmId, { backupId, parentId: null }, soon(fixture()))
    for (const driver of [fixture().driver, fixture().other]) await driver.ensurePurgedKeepBackups(spec.vmId, soon(fixture()))
    expect(await fixture().driver.findMachine(spec.vmId, soon(fixture()))).toBeNull()
    expect(await volumesOf(fixture(), spec.vmId)).toMatchObject([{ kind: 'backup', id: backupId, complete: true }])
  })
}

export const backupContract: ConformanceContract = (fixture) => {
  const restored = restoreOn(fixture)
  const backup = (vmId: string, backupId: string, parentId: string | null) =>
    fixture().driver.ensureBackup(vmId, { backupId, parentId }, soon(fixture()))

  test('a full and two incremental backups each restore their own state', async () => {
    const spec = await create(fixture())
    const ids = [newId(), newId(), newId()] as const
    const made = []
    for (const [position, id] of ids.entries()) {
      await fixture().guest.write(spec.vmId, `moment ${position}`)
      made.push(await backup(spec.vmId, id, ids[position - 1] ?? null))
    }
    expect(made.map((each) => each.parentId)).toEqual([null, ids[0], ids[1]])
    expect(made[1]!.sizeBytes).toBeLessThan(made[0]!.sizeBytes)
    expect(made.map((each) => each.consistency)).toEqual(['FILESYSTEM', 'FILESYSTEM', 'FILESYSTEM'])
    expect(await backup(spec.vmId, ids[2], ids[1])).toEqual({ ...made[2], consistency: 'CRASH' })
    let latest = spec
    for (const [position, backupId] of ids.entries()) {
      latest = next(latest)
      expect(await restored(latest, { from: 'backup', backupId })).toBe(`moment ${position}`)
    }
  })

  test('a backup is full when its parent has no usable checkpoint', async () => {
    const spec = await create(fixture())
    const first = newId()
    await backup(spec.vmId, first, null)
    expect(await backup(spec.vmId, newId(), newId())).toMatchObject({ parentId: null })
    await fixture().driver.ensureDisk(next(spec), TEMPLATE, soon(fixture()))
    await changeTo(fixture(), next(spec))
    expect(await backup(spec.vmId, newId(), first)).toMatchObject({ parentId: null })
  })

  test('a parent stays while another backup is a layer on it', async () => {
    const { vmId } = await create(fixture())
    const [parent, child] = [newId(), newId()]
    await backup(vmId, parent, null)
    await backup(vmId, child, parent)
    await expectKind(fixture().driver.ensureNoBackup(vmId, parent, soon(fixture())), 'in_use')
    for (const backupId of [child, child, parent]) await fixture().driver.ensureNoBackup(vmId, backupId, soon(fixture()))
    expect((await volumesOf(fixture(), vmId)).filter((volume) => volume.kind === 'backup')).toEqual([])
  })

  test('a backup is incremental on a parent that is stored on another host', async () => {
    const spec = await create(fixture())
    const [parentId, backupId] = [newId(), newId()]
    await fixture().guest.write(spec.vmId, 'first')
    await backup(spec.vmId, parentId, null)
    const bytes = await buffer(await fixture().driver.readBackup(spec.vmId, parentId, soon(fixture())))
    for (const driver of [fixture().driver, fixture().other])
      await driver.ensureBackupOffloaded(spec.vmId, { backupId: parentId, keepCheckpoint: true }, soon(fixture()))
    await fixture().guest.write(spec.vmId, 'second')
    const lost = newId()
    expect(await backup(spec.vmId, lost, parentId)).toMatchObject({ parentId: null }) // the parent is lost
    for (const driver of [fixture().driver, fixture().other])
      await driver.ensureBackupOffloaded(spec.vmId, { backupId: lost, keepCheckpoint: false }, soon(fixture()))
    const made = await fixture().driver.ensureBackup(spec.vmId, { backupId, parentId, parentIsRemote: true }, soon(fixture()))
    expect(made).toMatchObject({ parentId })
    const onLost = { backupId: newId(), parentId: lost, parentIsRemote: true }
    expect(await fixture().driver.ensureBackup(spec.vmId, onLost, soon(fixture()))).toMatchObject({ parentId: null })
    expect((await volumesOf(fixture(), spec.vmId)).map((volume) => volume.id)).not.toContain(parentId)
    const parent = { backupId: parentId, parentId: null }
    await fixture().driver.ensureBackupCopy(spec.vmId, parent, () => Promise.resolve(Readable.from([bytes])), soon(fixture()))
    expect(await restored(next(spec), { from: 'backup', backupId })).toBe('second')
  })

  test('a backup chain is transferred as bytes and restored after the VM is purged', async () => {
    const spec = await create(fixture())
    const [parentId, backupId] = [newId(), newId()]
    await backup(spec.vmId, parentId, null)
    await fixture().guest.write(spec.vmId, 'carried')
    await backup(spec.vmId, backupId, parentId)
    const bytesOf = async (id: string) => buffer(await fixture().driver.readBackup(spec.vmId, id, soon(fixture())))
    const copies = [
      { request: { backupId: parentId, parentId: null }, bytes: await bytesOf(parentId) },
      { request: { backupId, parentId }, bytes: await bytesOf(backupId) },
    ]
    await fixture().driver.ensurePurged(spec.vmId, soon(fixture()))
    const orphan = fixture().driver.ensureBackupCopy(
      spec.vmId,
      copies[1]!.request,
      () => Promise.resolve(Readable.from([copies[1]!.bytes])),
      soon(fixture()),
    )
    await expectKind(orphan, 'not_found')
    for (const { request, bytes } of [...copies, ...copies])
      await fixture().driver.ensureBackupCopy(spec.vmId, request, () => Promise.resolve(Readable.from([bytes])), soon(fixture()))
    const own = fixture().spec()
    const layers = () => Promise.all([parentId, backupId].map((id) => fixture().driver.readBackupExtents(spec.vmId, id, soon(fixture()))))
    const stored = { backupId, storageId: own.storageId }
    await fixture().driver.ensureBackupFromExtents(own.vmId, stored, async () => stackLayers(await layers()), soon(fixture()))
    await fixture().driver.ensureDisk(own, { from: 'backup', backupId }, soon(fixture()))
    await create(fixture(), own)
    expect(await fixture().guest.read(own.vmId)).toBe('carried')
    if (spec.storageId !== null) return
    await fixture().driver.ensureDisk(spec, { from: 'backup', backupId }, soon(fixture()))
    await create(fixture(), spec)
    expect(await fixture().guest.read(spec.vmId)).toBe('carried')
  })

  test('a backup chain is read as extents and restored from them', async () => {
    const spec = await create(fixture())
    const [parentId, backupId] = [newId(), newId()]
    await fixture().guest.write(spec.vmId, 'the first of two')
    await backup(spec.vmId, parentId, null)
    await fixture().guest.write(spec.vmId, 'the second')
    expect(await backup(spec.vmId, backupId, parentId)).toMatchObject({ parentId })
    const layersOf = (ids: string[]) => Promise.all(ids.map((id) => fixture().driver.readBackupExtents(spec.vmId, id, soon(fixture()))))
    const [full, increment] = await Promise.all((await layersOf([parentId, backupId])).map((layer) => layer.findAllocated()))
    expect(bytesIn(increment!)).toBeLessThanOrEqual(bytesIn(full!))

    let latest = spec
    for (const [moment, ids] of [
      ['the first of two', [parentId]],
      ['the second', [parentId, backupId]],
    ] as const) {
      const copyId = newId()
      const open = async (): Promise<DiskContent> => stackLayers(await layersOf([...ids]))
      const stored = { backupId: copyId, storageId: spec.storageId }
      for (let repeat = 0; repeat < 2; repeat++) await fixture().driver.ensureBackupFromExtents(spec.vmId, stored, open, soon(fixture()))
      latest = next(latest)
      expect(await restored(latest, { from: 'backup', backupId: copyId })).toBe(moment)
    }
  })

  test('a disk from the backup of another VM boots as a guest of its own, with the files', async () => {
    const { vmId } = await create(fixture())
    const backupId = newId()
    await fixture().guest.write(vmId, 'of another VM')
    await backup(vmId, backupId, null)
    const plain = fixture().spec()
    const own = { ...plain, seed: { ...plain.seed, passwordHash: `$6$salt$${'x'.repeat(86)}` } }
    const open = async (): Promise<DiskContent> => stackLayers([await fixture().driver.readBackupExtents(vmId, backupId, soon(fixture()))])
    await fixture().driver.ensureBackupFromExtents(own.vmId, { backupId, storageId: own.storageId }, open, soon(fixture()))
    await fixture().driver.ensureDisk(own, { from: 'backup', backupId }, soon(fixture()))
    await fixture().driver.ensureBackupOffloaded(own.vmId, { backupId, keepCheckpoint: false }, soon(fixture()))
    await create(fixture(), own)
    expect(await fixture().guest.read(own.vmId)).toBe('of another VM')
    expect(await fixture().guest.passwordHash(own.vmId)).toBe(own.seed.passwordHash)
    expect((await volumesOf(fixture(), own.vmId)).map(({ kind }) => kind).sort()).toEqual(['disk', 'seed'])
  })

  test('a disk from the snapshot of another VM has its files', async () => {
    const { vmId } = await create(fixture())
    const snapshotId = newId()
    await fixture().guest.write(vmId, 'in the snapshot')
    await fixture().driver.ensureSnapshot(vmId, snapshotId, soon(fixture()))
    await fixture().guest.write(vmId, 'later')
    const own = fixture().spec()
    const open = async (): Promise<DiskContent> =>
      stackLayers([await fixture().driver.readSnapshotExtents(vmId, snapshotId, soon(fixture()))])
    await fixture().driver.ensureBackupFromExtents(own.vmId, { backupId: snapshotId, storageId: own.storageId }, open, soon(fixture()))
    await fixture().driver.ensureDisk(own, { from: 'backup', backupId: snapshotId }, soon(fixture()))
    await create(fixture(), own)
    expect(await fixture().guest.read(own.vmId)).toBe('in the snapshot')
  })

  test('a VM with all kinds of resources is purged, and leaves nothing', async () => {
    const spec = await create(fixture())
    await fixture().driver.ensureSnapshot(spec.vmId, newId(), soon(fixture()))
    const full = newId()
    await fixture().driver.ensureBackup(spec.vmId, { backupId: full, parentId: null }, soon(fixture()))
    await fixture().driver.ensureBackup(spec.vmId, { backupId: newId(), parentId: full }, soon(fixture()))
    await fixture().driver.ensurePurged(spec.vmId, soon(fixture()))
    await expectNothingLeft(fixture(), spec.vmId)
  })
}

const bytesIn = (ranges: Range[]): number => ranges.reduce((sum, { length }) => sum + length, 0)
