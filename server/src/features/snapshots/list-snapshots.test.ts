import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { newId } from '../../kernel/ids.ts'

describe('snapshots of a VM', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const take = async (vmId: string, name: string) => {
    const { body } = await customer.post(`/vms/${vmId}/snapshots`, { name })
    await app.settle({ subjectId: vmId })
    return body.data.snapshot.id as string
  }
  const { id: vmId } = await app.given.vm(customer)
  const { id: otherVm } = await app.given.vm(customer)
  const ids = [await take(vmId, 'first'), await take(vmId, 'second'), await take(vmId, 'third')]
  const elsewhere = await take(otherVm, 'elsewhere')

  test('GET /vms/{vmId}/snapshots lists newest first and paginates', async () => {
    const names = async (query: string) => {
      const { status, body } = await customer.get(`/vms/${vmId}/snapshots${query}`)
      expect(status).toBe(200)
      return [body.data.map((each: { name: string }) => each.name), body.pagination]
    }
    expect(await names('')).toEqual([['third', 'second', 'first'], { page: 1, limit: 20, total: 3, totalPages: 1 }])
    expect(await names('?page=2&limit=2')).toEqual([['first'], { page: 2, limit: 2, total: 3, totalPages: 2 }])
    expect(await names('?page=9')).toEqual([[], { page: 9, limit: 20, total: 3, totalPages: 1 }])
  })

  test('GET /vms/{vmId}/snapshots/{id} shows one', async () => {
    const { status, body } = await customer.get(`/vms/${vmId}/snapshots/${ids[0]}`)
    expect([status, body.data]).toMatchObject([200, { id: ids[0], vmId, name: 'first', status: 'AVAILABLE' }])
  })

  test('answers 404 for another VM, an unknown id and another account', async () => {
    const stranger = await app.given.customer()
    for (const path of [`/vms/${vmId}/snapshots/${elsewhere}`, `/vms/${vmId}/snapshots/${newId()}`]) {
      expect((await customer.get(path)).body).toEqual({ success: false, error: 'Snapshot not found' })
    }
    for (const path of [`/vms/${vmId}/snapshots`, `/vms/${vmId}/snapshots/${ids[0]}`]) {
      expect((await stranger.get(path)).body).toEqual({ success: false, error: 'VM not found' })
    }
  })

  test('are deleted with their VM', async () => {
    await customer.delete(`/vms/${otherVm}`)
    await app.settle({ subjectId: otherVm })
    expect((await customer.get(`/vms/${otherVm}/snapshots`)).status).toBe(404)
    await app.rest()
    await app.checkInvariants()
  })
})
