// What object lock keeps of a deleted image counts in the quota of its owner, and is removed, also where the image is deleted at an awkward moment.
import { expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { quotaUsed } from '../accounts/service.ts'
import { copyImages } from './copy.reconciler.ts'
import { purgeImages } from './purge.reconciler.ts'
import { deleteImage } from './service.ts'

const LOCK_DAYS = 10

/** An image that is stored nowhere yet. */
async function given() {
  const app = await testApp(storesInMemory())
  const customer = await app.given.customer({ credit: '1000.00' })
  const { id: vmId } = await app.given.vm(customer)
  const store = await givenBackupTarget(app, { lockDays: LOCK_DAYS, clock: app.clock })
  const { status, body } = await customer.post('/images', { name: 'golden', vmId })
  expect([status, body.error]).toEqual([202, undefined])
  await app.settle()
  const id: string = body.data.image.id
  /** What is due now, with no time passing. */
  const runDue = async () => {
    const due = await app.db.many<{ id: string }>(sql`
      select id from workflow_runs
      where (status in ('PENDING', 'RUNNING') or compensating) and next_attempt_at <= ${app.clock.now()} and lease_until is null`)
    for (const run of due) await resumeRun(testRunner(app.deps), run.id)
  }
  const reconcile = async () => {
    await copyImages.runOnce(app.deps)
    await app.settle()
    await purgeImages.runOnce(app.deps)
    await app.checkInvariants()
  }
  /** What is stored and what counts. */
  const kept = async () => {
    const stored = await Array.fromAsync(store.list(`data/image-${id}/`))
    return { isStored: stored.length > 0, gib: await quotaUsed(app.db, customer.accountId, 'image_storage_gib') }
  }
  const expectGone = async () => {
    expect(await kept()).toEqual({ isStored: false, gib: 0n })
    expect((await customer.get(`/images/${id}`)).status).toBe(404)
    expect(await app.db.many(sql`select from image_copies`)).toEqual([])
  }
  const expectGoneAfterLock = async () => {
    expect(await kept()).toEqual({ isStored: true, gib: 1n })
    app.clock.advance('15d')
    await reconcile()
    expect(await kept()).toEqual({ isStored: true, gib: 1n })
    app.clock.advance('6d')
    await reconcile()
    await expectGone()
  }
  return { app, customer, store, id, runDue, reconcile, kept, expectGone, expectGoneAfterLock }
}

test('while a worker stores it, which goes on for some seconds', async () => {
  const { app, customer, store, id, runDue, reconcile, expectGoneAfterLock } = await given()
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  store.before = async (call, key) => {
    if (call !== 'put' || !key.includes('/chunks/')) return
    begun.resolve()
    await released.promise
  }
  await copyImages.runOnce(app.deps)
  const storing = app.settle()
  await begun.promise
  expect((await customer.delete(`/images/${id}`)).status).toBe(200)
  for (let round = 0; round < 3; round++) {
    await copyImages.runOnce(app.deps)
    await runDue()
    await purgeImages.runOnce(app.deps)
  }
  released.resolve()
  await storing
  await reconcile()
  await expectGoneAfterLock()
})

test('just before it would be stored', async () => {
  const { app, customer, id, runDue, reconcile, kept, expectGone } = await given()
  const waiting = () => app.db.many(sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
  let copying: Promise<unknown>
  await app.db.tx(async (tx) => {
    await deleteImage(tx, app.deps, customer.accountId, id)
    let isOver = false
    copying = copyImages.runOnce(app.deps).finally(() => (isOver = true))
    await expect.poll(async () => isOver || (await waiting()).length > 0).toBe(true)
    await runDue()
  })
  await copying!
  expect(await kept()).toEqual({ isStored: false, gib: 0n })
  await reconcile()
  await reconcile()
  await expectGone()
})

test('when its target locks nothing any more', async () => {
  const { app, customer, id, reconcile, expectGoneAfterLock } = await given()
  await reconcile()
  await app.db.run(sql`update backup_targets set lock_days = null`)
  expect((await customer.delete(`/images/${id}`)).status).toBe(200)
  await reconcile()
  await expectGoneAfterLock()
})
