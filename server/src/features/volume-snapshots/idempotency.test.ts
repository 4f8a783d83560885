// Requests about one snapshot of a detached volume name the same place as their result. That breaks no invariant, which the harness checks at the end.
import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'

const app = await testApp()
const customer = await app.given.customer({ credit: '100.00' })

test('a detached volume is restored twice and its snapshot deleted, each with a key of its own', async () => {
  const { id: vmId } = await app.given.vm(customer)
  const { regionId } = await app.given.vmInput()
  const key = (name: string) => ({ 'idempotency-key': name })
  const { id } = (await customer.post('/volumes', { name: 'data', sizeGiB: 10, regionId, vmId }, key('create'))).body.data
  await app.settle()
  await customer.post(`/volumes/${id}/detach`)
  await app.settle()
  const { snapshot } = (await customer.post(`/volumes/${id}/snapshots`, { name: 'monday' }, key('take'))).body.data
  await app.settle()
  const path = `/volumes/${id}/snapshots/${snapshot.id}`
  const places = []
  for (const request of [
    () => customer.post(`${path}/restore`, undefined, key('restore')),
    () => customer.post(`${path}/restore`, undefined, key('restore-again')),
    () => customer.delete(path, key('delete')),
  ]) {
    const { status, headers } = await request()
    places.push([status, headers['location']])
    await app.settle()
  }
  expect(places).toEqual([
    [202, expect.stringMatching(new RegExp(`/volumes/${id}$`))],
    [202, expect.stringMatching(new RegExp(`/volumes/${id}$`))],
    [202, expect.stringMatching(new RegExp(`${path}$`))],
  ])
})
