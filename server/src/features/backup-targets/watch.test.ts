// What was deleted and object lock keeps.
import { expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { removeInTargets } from '../backups/purge-targets.reconciler.ts'
import { lockedByTarget } from './service.ts'
import { watchBackupTargets } from './watch.reconciler.ts'

test('backups of a deleted VM count in the numbers of operators until their lock has ended', async () => {
  const app = await testApp(storesInMemory())
  const customer = await app.given.customer({ credit: '100.00' })
  await givenBackupTarget(app, { lockDays: 10, clock: app.clock })
  const { id: vmId } = await app.given.vm(customer)
  await customer.post(`/vms/${vmId}/backups`, { name: 'x' })
  await app.settle()
  const seen = async () => {
    await removeInTargets.runOnce(app.deps)
    await watchBackupTargets.runOnce(app.deps)
    const { backups, bytes } = (await lockedByTarget(app.db))[0]!
    const [metric] = (await app.deps.metrics.backupTargetLocked.get()).values
    expect(metric!.value).toBe(Number(bytes))
    return { backups, bytes }
  }
  expect(await seen()).toEqual({ backups: 0, bytes: 0n })
  await customer.delete(`/vms/${vmId}`)
  await app.settle()
  const kept = await seen()
  expect(kept).toEqual({ backups: 1, bytes: expect.any(BigInt) })
  expect(kept.bytes).toBeGreaterThan(0n)
  // The backup is unlocked before what it needs.
  app.clock.advance('11d')
  expect(await seen()).toEqual({ backups: 0, bytes: kept.bytes })
  app.clock.advance('30d')
  expect(await seen()).toEqual({ backups: 0, bytes: 0n })
})
