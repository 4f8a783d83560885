// Call sequences after a worker crash: a step repeated, a workflow restarted, a compensation of something incomplete.
import { describe, expect, test } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import { create, createSteps, expectKind, expectNothingLeft, soon, stop, volumesOf, type ConformanceContract } from './fixture.ts'

export const crashContract: ConformanceContract = (rig) => {
  describe.each([0, 1, 2, 3, 4])('a create that crashed after %i steps', (count) => {
    test('is repeated from the start', async () => {
      const spec = rig().spec()
      for (const step of createSteps(rig(), spec).slice(0, count)) await step()
      await create(rig(), spec)
      expect(await rig().driver.findMachine(spec.vmId, soon(rig()))).toMatchObject({ power: 'running' })
    })

    test('is rolled back, twice, and leaves nothing', async () => {
      const spec = rig().spec()
      for (const step of createSteps(rig(), spec).slice(0, count)) await step()
      await rig().driver.ensurePurged(spec.vmId, soon(rig()))
      await rig().other.ensurePurged(spec.vmId, soon(rig()))
      await expectNothingLeft(rig(), spec.vmId)
    })
  })

  test('a VM with all kinds of resources is purged, and leaves nothing', async () => {
    const spec = await create(rig())
    await rig().driver.ensureSnapshot(spec.vmId, newId(), soon(rig()))
    const full = newId()
    await rig().driver.ensureBackup(spec.vmId, { backupId: full, parentId: null }, soon(rig()))
    await rig().driver.ensureBackup(spec.vmId, { backupId: newId(), parentId: full }, soon(rig()))
    await rig().driver.ensurePurged(spec.vmId, soon(rig()))
    await expectNothingLeft(rig(), spec.vmId)
  })

  test('the id of a purged VM can be used again', async () => {
    const spec = await create(rig())
    await rig().driver.ensurePurged(spec.vmId, soon(rig()))
    await create(rig(), spec)
    expect(await rig().guest.read(spec.vmId)).toBeNull()
  })

  test('an aborted call rejects as aborted, and can be repeated or rolled back', async () => {
    const spec = rig().spec()
    const cut = AbortSignal.abort()
    await expectKind(rig().driver.ensureDisk(spec, { from: 'template' }, cut), 'aborted')
    await create(rig(), spec)
    await expectKind(rig().driver.ensureStopped(spec.vmId, { graceMs: 1 }, cut), 'aborted')
    await stop(rig(), spec)
    const snapshotId = newId()
    await expectKind(rig().driver.ensureSnapshot(spec.vmId, snapshotId, cut), 'aborted')
    await rig().driver.ensureNoSnapshot(spec.vmId, snapshotId, soon(rig()))
    expect((await volumesOf(rig(), spec.vmId)).filter((volume) => volume.kind === 'snapshot')).toEqual([])
  })
}
