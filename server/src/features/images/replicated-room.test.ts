// The room of an image where VMs from it have their disks: on a host, and in a storage backend.
import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf } from '../../../test/hosts.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { allowManyVms } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { removeStorageBackend } from '../storage/service.ts'
import { evictImages, purgeImages } from './purge.reconciler.ts'

const app = await testApp()
await allowManyVms(app)
const customer = await app.given.customer({ credit: '1000.00' })
const { id: vmId } = await app.given.vm(customer)
const storage = await sellReplicated(app)
const { image } = (await customer.post('/images', { name: 'golden', vmId })).body.data
await app.settle()

const plansAre = (kind: 'LOCAL' | 'REPLICATED') => app.db.run(sql`update plans set storage = ${kind}`)
const diskUsed = async () => (await app.db.one<{ gib: number }>(sql`select disk_used_gib as gib from hosts where id = ${app.host.id}`)).gib
const storageUsed = async () =>
  (await app.db.one<{ gib: number }>(sql`select used_gib as gib from storage_backends where id = ${storage.id}`)).gib
const used = async () => [await diskUsed(), await storageUsed()]
const inStorage = async () =>
  (await app.db.maybe(sql`select from simulated.volumes where storage_id = ${storage.id} and kind = 'template' and id = ${image.id}`)) !==
  undefined
const create = () => app.given.vm(customer, { osTemplateId: image.id })
async function remove({ id }: { id: string }): Promise<void> {
  await customer.delete(`/vms/${id}`)
  await app.settle()
  await evictImages.runOnce(app.deps)
}

test('it is booked once in each place, and released when no VM there is from it', async () => {
  const [disk, pool] = await used()
  const [first, second] = [await create(), await create()]
  expect([await used(), await inStorage()]).toEqual([[disk, pool! + 51], true])
  await plansAre('LOCAL')
  const local = await create()
  await create().then(remove)
  expect(await used()).toEqual([disk! + 26, pool! + 51])
  await app.checkInvariants()
  await remove(local)
  expect(await used()).toEqual([disk, pool! + 51])
  await remove(first)
  expect([await used(), await inStorage()]).toEqual([[disk, pool! + 26], true])
  await expect(app.db.tx((tx) => removeStorageBackend(tx, storage.id))).rejects.toMatchObject({
    message: expect.stringContaining('1 VM, 0 snapshots, 0 volumes and 1 image'),
  })
  await remove(second)
  expect([await used(), await inStorage()]).toEqual([[disk, pool], false])
  await app.checkInvariants()
})

test('a storage backend that has room for the disk alone refuses the VM, and keeps nothing booked', async () => {
  await plansAre('REPLICATED')
  const before = await used()
  const limit = (gib: number | null) => app.db.run(sql`update storage_backends set capacity_gib = coalesce(${gib}, free_gib)`)
  await app.db.run(sql`update storage_backends set reserve_percent = 0`)
  await limit(before[1]! + 25)
  const refused = await customer.post('/vms', { ...(await app.given.vmInput()), osTemplateId: image.id })
  expect([refused.status, refused.body]).toMatchObject([
    503,
    { success: false, error: expect.stringContaining('no room for this image (1 GiB)') },
  ])
  expect(await used()).toEqual(before)
  await limit(before[1]! + 26)
  await remove(await create())
  await limit(null)
  expect(await used()).toEqual(before)
})

test('what an older release did not book is booked, and removed with the image', async () => {
  const before = await used()
  const vm = await create()
  await app.db.run(sql`delete from image_storage_rooms`)
  await app.db.run(sql`update storage_backends set used_gib = used_gib - 1`)
  await app.db.run(sql`insert into image_rooms (image_id, host_id, gib) values (${image.id}, ${app.host.id}, 0)`)
  await evictImages.runOnce(app.deps)
  expect([await used(), await inStorage()]).toEqual([[before[0], before[1]! + 26], true])
  await app.checkInvariants()
  await customer.delete(`/vms/${vm.id}`)
  await app.settle()
  await customer.delete(`/images/${image.id}`)
  await controlOf(app, storage.id).faults.loseHost()
  await purgeImages.runOnce(app.deps)
  expect(await used()).toEqual([before[0], before[1]! + 1])
  await controlOf(app, storage.id).faults.returnHost()
  app.clock.advance('2m')
  await purgeImages.runOnce(app.deps)
  expect([await used(), await inStorage()]).toEqual([before, false])
  await app.checkInvariants()
})
