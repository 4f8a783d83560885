// What object lock keeps of deleted things counts in the quota of their owner until it is gone.
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { BackupTargetError } from '../../backup-target/errors.ts'
import { sql } from '../../kernel/database/db.ts'
import { quotaUsed, setQuotaLimit } from '../accounts/service.ts'
import { removeInTargets } from '../backups/purge-targets.reconciler.ts'
import { removeTarget } from '../backup-targets/service.ts'
import { copyImages } from './copy.reconciler.ts'
import { purgeImages } from './purge.reconciler.ts'

const LOCK_DAYS = 10
/** Of the plan that is the default. */
const DISK = 25n

async function given() {
  const app = await testApp(storesInMemory())
  const customer = await app.given.customer({ credit: '1000.00' })
  const { id: vmId } = await app.given.vm(customer)
  const store = await givenBackupTarget(app, { lockDays: LOCK_DAYS, clock: app.clock })
  const used = (name: string) => quotaUsed(app.db, customer.accountId, name)
  const limit = (name: string, most: bigint) => app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, name, most))
  const refusal = async (path: string, body: object) => {
    const { status, headers, body: answer } = await customer.post(path, body)
    return [status, headers['x-error-code'], answer.error as string]
  }
  const daysLater = (days: number) => new Date(app.clock.now().getTime() + days * 86_400_000).toISOString()
  return { app, customer, vmId, store, used, limit, refusal, daysLater }
}

type Given = Pick<Awaited<ReturnType<typeof given>>, 'app' | 'customer' | 'store'>

/** Cancels a backup when all its chunks are stored, or its manifest as well. */
async function cancelLate(
  { app, customer, store }: Given,
  vmId: string,
  { meanwhile = async () => {}, isStored = false } = {},
): Promise<void> {
  const [uploaded, cancelled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  store.before = async (call, key) => {
    if (call !== 'put' || !key.includes('/manifests/')) return
    uploaded.resolve()
    await cancelled.promise
    if (!isStored) throw new BackupTargetError('cancelled', 'the upload was cancelled')
  }
  const { backup } = (await customer.post(`/vms/${vmId}/backups`, { name: 'x' })).body.data
  const settled = app.settle()
  await uploaded.promise
  await meanwhile()
  expect((await customer.delete(`/vms/${vmId}/backups/${backup.id}`)).status).toBe(200)
  cancelled.resolve()
  await settled
  store.before = async () => {}
}

describe('a deleted image that object lock keeps', async () => {
  const { app, customer, vmId, used, limit, refusal, daysLater } = await given()
  const make = async (): Promise<string> => {
    const { status, body } = await customer.post('/images', { name: 'golden', vmId })
    expect([status, body.error]).toEqual([202, undefined])
    await app.settle()
    return body.data.image.id
  }
  const reconcile = async () => {
    await purgeImages.runOnce(app.deps)
    await copyImages.runOnce(app.deps)
    await app.settle()
    await purgeImages.runOnce(app.deps)
    await app.checkInvariants()
  }

  test('counts until it is gone, and the refusal says until when', async () => {
    await limit('image_storage_gib', DISK)
    const id = await make()
    await reconcile()
    const lockedUntil = daysLater(2 * LOCK_DAYS)
    expect((await customer.get(`/images/${id}`)).body.data.lockedUntil).toBeNull()
    expect((await customer.delete(`/images/${id}`)).body.data).toMatchObject({ status: 'DELETING', lockedUntil })
    await reconcile()
    expect((await customer.get(`/images/${id}`)).body.data).toMatchObject({ status: 'DELETING', lockedUntil })
    expect([await used('image_storage_gib'), await used('images')]).toEqual([1n, 0n])
    expect(await refusal('/images', { name: 'next', vmId })).toEqual([
      422,
      'quota_exceeded',
      `Quota exceeded: 1 of 25 GiB of image storage are in use, and this needs 25 more. Delete some, or ask support for more. 1 GiB of it were deleted and are kept by object lock, the first of it until ${lockedUntil} at the latest`,
    ])
    app.clock.advance('15d')
    await reconcile()
    expect(await used('image_storage_gib')).toBe(1n)
    app.clock.advance('6d')
    await reconcile()
    expect([(await customer.get(`/images/${id}`)).status, await used('image_storage_gib')]).toEqual([404, 0n])
    const deleted = (await customer.get('/events?limit=100')).body.data.filter(({ type }: { type: string }) => type === 'image.deleted')
    expect(deleted).toHaveLength(1)
  })

  test('of which nothing was stored yet is gone at once', async () => {
    const id = await make()
    await customer.delete(`/images/${id}`)
    expect(await used('image_storage_gib')).toBe(0n)
    await reconcile()
    expect((await customer.get(`/images/${id}`)).status).toBe(404)
  })
})

describe('backups that object lock keeps', async () => {
  const { app, customer, store, used, limit, refusal, daysLater, vmId: other } = await given()
  const reconcile = async () => {
    await removeInTargets.runOnce(app.deps)
    await app.checkInvariants()
  }

  test('count after the deletion of their VM, then as what they leave, then no more', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await customer.post(`/vms/${vmId}/backups`, { name: 'x' })
    await app.settle()
    const until = daysLater(2 * LOCK_DAYS)
    await customer.delete(`/vms/${vmId}`)
    await app.settle()
    await reconcile()
    expect(await used('copies_gib')).toBe(DISK)
    await limit('copies_gib', DISK)
    const refused = await refusal(`/vms/${other}/snapshots`, { name: 'x' })
    expect(refused).toEqual([422, 'quota_exceeded', expect.stringContaining(`25 GiB of it were deleted and are kept by object lock`)])
    expect(refused[2]).toContain(until)
    app.clock.advance('11d')
    await reconcile()
    expect(await used('copies_gib')).toBe(1n)
    app.clock.advance('10d')
    await reconcile()
    expect(await used('copies_gib')).toBe(0n)
  })

  test('that failed count as what they have stored', async () => {
    store.before = async (call, key) => {
      if (call === 'put' && key.includes('/manifests/')) throw new BackupTargetError('refused', 'the keys were withdrawn')
    }
    const { backup } = (await customer.post(`/vms/${other}/backups`, { name: 'x' })).body.data
    await app.settle()
    store.before = async () => {}
    expect((await customer.get(`/vms/${other}/backups/${backup.id}`)).body.data).toMatchObject({ status: 'FAILED' })
    await reconcile()
    expect(await used('copies_gib')).toBe(1n)
    await customer.delete(`/vms/${other}/backups/${backup.id}`)
    await reconcile()
    expect(await used('copies_gib')).toBe(1n)
  })

  test('that were cancelled count while the next is uploaded', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await limit('copies_gib', 1_000n)
    const before = await used('copies_gib')
    await cancelLate({ app, customer, store }, vmId)
    expect(await used('copies_gib')).toBe(before + DISK)
    await cancelLate({ app, customer, store }, vmId, {
      meanwhile: async () => {
        await removeInTargets.runOnce(app.deps)
        expect(await used('copies_gib')).toBe(before + DISK + 1n)
      },
    })
    await reconcile()
    expect(await used('copies_gib')).toBe(before + 1n)
  })

  test('count no more where their target is removed', async () => {
    const { slug } = await app.db.one<{ slug: string }>(sql`select slug from regions where id = ${app.host.region_id}`)
    await removeTarget(app.db, slug)
    expect(await used('copies_gib')).toBe(0n)
    await app.checkInvariants()
  })
})

test('a backup that is cancelled when it is stored counts until it is gone', async () => {
  const all = await given()
  const { app, customer, vmId, used } = all
  const reconcile = async () => {
    await removeInTargets.runOnce(app.deps)
    await app.checkInvariants()
  }
  await cancelLate(all, vmId, { isStored: true })
  await reconcile()
  expect(await used('copies_gib')).toBe(DISK)
  app.clock.advance('11d')
  await reconcile()
  expect(await used('copies_gib')).toBe(1n)
  app.clock.advance('10d')
  await reconcile()
  expect([await used('copies_gib'), (await customer.get(`/vms/${vmId}/backups`)).body.data]).toEqual([0n, []])
})
