// Images in backup targets: stored once, fetched where a file is missing, removed with the image.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { allowManyVms, diskOf } from '../../../test/snapshot-backup-fixture.ts'
import { ownImages } from '../../commands/doctor/own-images.ts'
import { verifyBucket } from '../../backup-target/verify.ts'
import { sql } from '../../kernel/database/db.ts'
import { testCrashSafety } from '../../workflow/testing.ts'
import { restorableIn } from '../backup-targets/service.ts'
import { setControlPlaneDays } from '../control-plane-backups/service.ts'
import { notStored } from './copies.sql.ts'
import { copyImages } from './copy.reconciler.ts'
import { storeImageCopy } from './copy.workflow.ts'
import { purgeImages } from './purge.reconciler.ts'

describe('an image of an account', async () => {
  const app = await testApp(storesInMemory())
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '1000.00' })
  const { osTemplateId: _, ...input } = await app.given.vmInput()
  const { id: vmId } = await app.given.vm(customer)
  await diskOf(app, vmId).write('as in the image')
  const fileOf = (id: string): string => join(app.config.imagesDir, 'accounts', `${id}.qcow2`)

  const make = async (): Promise<string> => {
    const { status, body } = await customer.post('/images', { name: 'golden', vmId })
    expect([status, body.error]).toEqual([202, undefined])
    await app.settle()
    return body.data.image.id
  }
  const copy = async () => {
    await copyImages.runOnce(app.deps)
    await app.settle()
  }
  const copiesOf = (id: string) =>
    app.db.many<{ target_id: string; is_stored: boolean; error: string | null; locked: bigint }>(sql`
      select target_id, stored_at is not null as is_stored, error, locked_bytes as locked from image_copies where image_id = ${id} order by created_at`)
  const remove = async (id: string) => {
    expect((await customer.delete(`/images/${id}`)).status).toBe(200)
    await purgeImages.runOnce(app.deps)
    await copy()
  }
  const before = await make()

  const doctor = () => ownImages({ ...app.config, databaseUrl: app.db.url })
  await copy()
  const alone = { copies: await copiesOf(before), missing: await notStored(app.db), finding: await doctor() }
  const store = await givenBackupTarget(app, { clock: app.clock })
  const { id: targetId } = await app.db.one<{ id: string }>(sql`select id from backup_targets`)

  test('stays in the image folder where there is no backup target', () => {
    const message = 'the image of a customer is in the image folder only'
    expect(alone).toMatchObject({ copies: [], missing: [], finding: { status: 'warning', message } })
  })

  test('is stored once, encrypted, also one that is older than the target', async () => {
    expect(await notStored(app.db)).toMatchObject([{ id: before, name: 'golden', error: null }])
    expect(await doctor()).toMatchObject({
      status: 'warning',
      message: expect.stringContaining(`not in backup targets yet: golden (${before})`),
    })
    await copy()
    expect(await doctor()).toMatchObject({ status: 'ok', message: 'the images of customers are in backup targets: 1' })
    expect(await copiesOf(before)).toEqual([{ target_id: targetId, is_stored: true, error: null, locked: 0n }])
    expect(await notStored(app.db)).toEqual([])
    const keys = store.keys(`image-${before}`)
    expect(keys.length).toBeGreaterThan(2)
    await copy()
    expect(store.keys(`image-${before}`)).toEqual(keys)
    const expected = await restorableIn(app.db, targetId)
    expect(expected.map(({ id }) => id)).toEqual([before])
    const verified = await verifyBucket(store, app.deps.vault, expected, AbortSignal.timeout(10_000))
    expect(verified).toMatchObject({ problems: [], backups: [{ backupId: before, problems: [] }] })
    // No customer sees that it was copied.
    expect(
      (await customer.get('/events?limit=100')).body.data.filter(({ type }: { type: string }) => type === 'image.created'),
    ).toHaveLength(1)
  })

  test('is fetched when a host needs it and its file is gone', async () => {
    const wanted = readFileSync(fileOf(before))
    await rm(fileOf(before))
    const { body } = await customer.post('/vms', { ...input, hostname: 'new', osTemplateId: before })
    await app.settle()
    const vm = (await customer.get(`/vms/${body.data.vm.id}`)).body.data
    expect(vm).toMatchObject({ status: 'RUNNING', statusReason: null })
    expect(await diskOf(app, vm.id).read()).toBe('as in the image')
    expect(readFileSync(fileOf(before)).equals(wanted)).toBe(true)
    await customer.delete(`/vms/${vm.id}`)
    await app.settle()
  })

  test('that was damaged in the target is not used', async () => {
    const id = await make()
    await copy()
    await rm(fileOf(id))
    await app.db.run(sql`update images set checksum = ${`sha256:${'0'.repeat(64)}`} where id = ${id}`)
    const { body } = await customer.post('/vms', { ...input, hostname: 'new', osTemplateId: id })
    await app.settle()
    expect((await customer.get(`/vms/${body.data.vm.id}`)).body.data).toMatchObject({ status: 'ERROR' })
    expect(existsSync(fileOf(id))).toBe(false)
    await customer.delete(`/vms/${body.data.vm.id}`)
    await app.settle()
    await remove(id)
  })

  test('whose file was changed is not stored', async () => {
    const id = await make()
    await truncate(fileOf(id), 100)
    await copy()
    expect(await copiesOf(id)).toMatchObject([{ is_stored: false, error: 'The file of the image is not as it was made.' }])
    expect(await notStored(app.db)).toMatchObject([{ id, error: expect.stringContaining('not as it was made') }])
    expect(store.keys(`image-${id}`).filter((key) => key.includes('/manifests/'))).toEqual([])
    await remove(id)
    app.clock.advance('2h')
    await copy()
    expect([await copiesOf(id), store.keys(`image-${id}`)]).toEqual([[], []])
  })

  test('is stored in every target that keeps the control plane', async () => {
    const id = await make()
    await setControlPlaneDays(app.db, app.clock.now(), targetId, 7)
    await copy()
    expect(await copiesOf(id)).toMatchObject([{ target_id: targetId, is_stored: true }])
    await remove(id)
  })

  test('is removed from the target when it is deleted, also while it is being stored', async () => {
    const id = await make()
    await copy()
    expect(store.keys(`image-${id}`).length).toBeGreaterThan(0)
    await remove(id)
    expect([await copiesOf(id), store.keys(`image-${id}`)]).toEqual([[], []])
    const second = await make()
    await copyImages.runOnce(app.deps)
    await customer.delete(`/images/${second}`)
    await purgeImages.runOnce(app.deps)
    await copy()
    await copyImages.runOnce(app.deps)
    await copyImages.runOnce(app.deps) // leaves the removal alone that it began before
    const runs = await app.db.many<{ name: string; status: string }>(
      sql`select name, status from workflow_runs where subject_id like ${`${second}.%`} order by id`,
    )
    expect(runs).toEqual([
      { name: 'image.copy', status: 'CANCELLED' },
      { name: 'image.remove_copy', status: 'PENDING' },
    ])
    await app.settle()
    expect([await copiesOf(second), store.keys(`image-${second}`)]).toEqual([[], []])
  })

  test('is known to be there by a control plane that forgot it', async () => {
    await app.db.run(sql`delete from image_copies where image_id = ${before}`)
    const wanted = createHash('sha256')
      .update(readFileSync(fileOf(before)))
      .digest('hex')
    await rm(fileOf(before))
    await copy()
    expect(await copiesOf(before)).toMatchObject([{ is_stored: true }])
    const { body } = await customer.post('/vms', { ...input, hostname: 'new', osTemplateId: before })
    await app.settle()
    expect((await customer.get(`/vms/${body.data.vm.id}`)).body.data.status).toBe('RUNNING')
    expect(
      createHash('sha256')
        .update(readFileSync(fileOf(before)))
        .digest('hex'),
    ).toBe(wanted)
  })

  test('survives a crash and a failure at any step of storing it', async () => {
    const id = await make()
    const setup = {
      db: app.db,
      clock: app.clock,
      runner: testRunner(app.deps),
      workflow: storeImageCopy,
      start: async () => {
        await app.db.run(sql`update image_copies set stored_at = null, next_try_at = null where image_id = ${id}`)
        await copyImages.runOnce(app.deps)
        return (await app.db.one<{ run_id: string }>(sql`select run_id from image_copies where image_id = ${id}`)).run_id
      },
      completed: async () => expect(await copiesOf(id)).toMatchObject([{ is_stored: true, error: null }]),
      failed: async () => expect(await copiesOf(id)).toMatchObject([{ is_stored: false, error: 'Failed on purpose' }]),
    }
    expect((await testCrashSafety(setup, { thorough: true })).length).toBeGreaterThan(storeImageCopy.steps.length)
    await remove(id)
  })
})

describe('an image in a target with object lock', async () => {
  const app = await testApp(storesInMemory())
  const customer = await app.given.customer({ credit: '1000.00' })
  const { id: vmId } = await app.given.vm(customer)
  const store = await givenBackupTarget(app, { lockDays: 10, clock: app.clock })
  const copy = async () => {
    await copyImages.runOnce(app.deps)
    await app.settle()
  }

  test('is locked as long as it exists, and removed when the lock has ended', async () => {
    const { id } = (await customer.post('/images', { name: 'golden', vmId })).body.data.image
    await app.settle()
    await copy()
    const renewAt = async () =>
      (await app.db.one<{ renew_at: Date }>(sql`select renew_at from image_copies where image_id = ${id}`)).renew_at.getTime()
    const first = await renewAt()
    app.clock.advance('6d')
    await copy()
    expect(await renewAt()).toBe(first + 6 * 86_400_000)
    await customer.delete(`/images/${id}`)
    await purgeImages.runOnce(app.deps)
    app.clock.advance('5d')
    await copy()
    const [left] = await app.db.many<{ locked_bytes: bigint; next_try_at: Date; renew_at: Date }>(
      sql`select locked_bytes, next_try_at, renew_at from image_copies where image_id = ${id}`,
    )
    expect(left!.locked_bytes).toBeGreaterThan(0n)
    expect(left!.next_try_at.getTime()).toBe(left!.renew_at.getTime() + 5 * 86_400_000)
    expect(store.keys(`image-${id}`).length).toBeGreaterThan(2)
    app.clock.advance('40d')
    await copy()
    expect(store.keys(`image-${id}`)).toEqual([])
    expect(await app.db.many(sql`select 1 from image_copies`)).toEqual([])
  })

  test('that is being removed, as others are, does not keep others from being stored', async () => {
    const make = async (): Promise<string> => {
      const { id } = (await customer.post('/images', { name: 'golden', vmId })).body.data.image
      await app.settle()
      return id
    }
    const deleted = [await make(), await make(), await make()]
    for (let i = 0; i < 2; i++) await copy()
    for (const id of deleted) await customer.delete(`/images/${id}`)
    await purgeImages.runOnce(app.deps)
    const kept = await make()
    await copyImages.runOnce(app.deps)
    const runs = () =>
      app.db.many<{ image_id: string; name: string }>(sql`
        select c.image_id, r.name from image_copies c join workflow_runs r on r.id = c.run_id where r.status = 'PENDING' order by r.name`)
    const removed = { image_id: expect.toBeOneOf(deleted), name: 'image.remove_copy' }
    expect(await runs()).toEqual([{ image_id: kept, name: 'image.copy' }, removed, removed])
    await app.settle()
    await copy()
    expect(await app.db.many(sql`select 1 from image_copies where locked_bytes > 0`)).toHaveLength(3)
    app.clock.advance('2d')
    await copyImages.runOnce(app.deps)
    expect(await runs()).toEqual([])
  })
})
