// The room of an image on a host that has VMs from it on both kinds of storage.
import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { allowManyVms } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { evictImages } from './purge.reconciler.ts'

const app = await testApp()
await allowManyVms(app)
const customer = await app.given.customer({ credit: '1000.00' })
const { id: vmId } = await app.given.vm(customer)

const diskUsed = async () => (await app.db.one<{ gib: number }>(sql`select disk_used_gib as gib from hosts where id = ${app.host.id}`)).gib
const rooms = async () => (await app.db.many<{ gib: number }>(sql`select gib from image_rooms`)).map(({ gib }) => gib)

test('a host with VMs on replicated storage from an image has room for it when the first local one comes; storage keeps none that no VM needs', async () => {
  const { image } = (await customer.post('/images', { name: 'golden', vmId })).body.data
  await app.settle()
  await sellReplicated(app)
  const replicated = await app.given.vm(customer, { osTemplateId: image.id })
  expect(await rooms()).toEqual([0])
  const before = await diskUsed()
  await app.db.run(sql`update plans set storage = 'LOCAL'`)
  const local = await app.given.vm(customer, { osTemplateId: image.id })
  const another = await app.given.vm(customer, { osTemplateId: image.id })
  expect([await diskUsed(), await rooms()]).toEqual([before + 51, [1]])
  await app.checkInvariants()
  for (const vm of [local, another, replicated]) {
    await customer.delete(`/vms/${vm.id}`)
    await app.settle()
    await evictImages.runOnce(app.deps)
    expect(await rooms()).toEqual(vm === replicated ? [] : [1])
  }
  expect(await diskUsed()).toBe(before)
  await app.db.run(sql`update plans set storage = 'REPLICATED'`)
  const last = await app.given.vm(customer, { osTemplateId: image.id })
  await evictImages.runOnce(app.deps)
  expect(await rooms()).toEqual([0])
  await customer.delete(`/vms/${last.id}`)
  await app.settle()
  await evictImages.runOnce(app.deps)
  expect(await rooms()).toEqual([])
  await app.checkInvariants()
})
