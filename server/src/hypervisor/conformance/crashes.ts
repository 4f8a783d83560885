// Call sequences after a worker crash: a step repeated, a workflow restarted, a compensation of something incomplete.
import { describe, expect, test } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import { create, createSteps, expectKind, expectNothingLeft, soon, stop, volumesOf, type ConformanceContract } from './fixture.ts'

export const crashContract: ConformanceContract = (fixture) => {
  describe.each([0, 1, 2, 3, 4])('a create that crashed after %i steps', (count) => {
    test('is repeated from the start', async () => {
      const spec = fixture().spec()
      for (const step of createSteps(fixture(), spec).slice(0, count)) await step()
      await create(fixture(), spec)
      expect(await fixture().driver.findMachine(spec.vmId, soon(fixture()))).toMatchObject({ power: 'running' })
    })

    test('is rolled back, twice, and leaves nothing', async () => {
      const spec = fixture().spec()
      for (const step of createSteps(fixture(), spec).slice(0, count)) await step()
      await fixture().driver.ensurePurged(spec.vmId, soon(fixture()))
      await fixture().other.ensurePurged(spec.vmId, soon(fixture()))
      await expectNothingLeft(fixture(), spec.vmId)
    })
  })

  test('the id of a purged VM can be used again', async () => {
    const spec = await create(fixture())
    await fixture().driver.ensurePurged(spec.vmId, soon(fixture()))
    await create(fixture(), spec)
    expect(await fixture().guest.read(spec.vmId)).toBeNull()
  })

  test('an aborted call rejects as aborted, and can be repeated or rolled back', async () => {
    const spec = fixture().spec()
    const cut = AbortSignal.abort()
    await expectKind(fixture().driver.ensureDisk(spec, { from: 'template' }, cut), 'aborted')
    await create(fixture(), spec)
    await expectKind(fixture().driver.ensureStopped(spec.vmId, { graceMs: 1 }, cut), 'aborted')
    await stop(fixture(), spec)
    const snapshotId = newId()
    await expectKind(fixture().driver.ensureSnapshot(spec.vmId, snapshotId, cut), 'aborted')
    await fixture().driver.ensureNoSnapshot(spec.vmId, snapshotId, soon(fixture()))
    expect((await volumesOf(fixture(), spec.vmId)).filter((volume) => volume.kind === 'snapshot')).toEqual([])
  })
}
