import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'

describe('GET /vms/{vmId}/bandwidth/packs', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const buy = async (vmId: string, gigabytes: number) => (await customer.post(`/vms/${vmId}/bandwidth/packs`, { gigabytes })).body.data

  test('is empty before the first purchase', async () => {
    const { id } = await app.given.vm(customer)
    const { status, body } = await customer.get(`/vms/${id}/bandwidth/packs`)
    expect([status, body]).toEqual([
      200,
      { success: true, data: [], pagination: { page: 1, limit: 20, total: 0, totalPages: 0 }, nextCursor: null },
    ])
  })

  test('lists only the pack transactions of this VM, newest first, page by page', async () => {
    const [{ id }, other] = [await app.given.vm(customer), await app.given.vm(customer, { hostname: 'other' })]
    const bought = [await buy(id, 100), await buy(other.id, 300), await buy(id, 200), await buy(id, 1)]
    const { body } = await customer.get(`/vms/${id}/bandwidth/packs?limit=2`)
    expect(body.data).toEqual([bought[3], bought[2]])
    expect(body.pagination).toEqual({ page: 1, limit: 2, total: 3, totalPages: 2 })
    expect((await customer.get(`/vms/${id}/bandwidth/packs?limit=2&page=2`)).body.data).toEqual([bought[0]])
    expect((await customer.get(`/vms/${id}/bandwidth/packs?page=3`)).body.data).toEqual([])
  })

  test.each(['limit=0', 'limit=101', 'page=0'])('refuses %s', async (query) => {
    const { id } = await app.given.vm(customer, { hostname: `q${query.length}` })
    expect((await customer.get(`/vms/${id}/bandwidth/packs?${query}`)).status).toBe(400)
  })

  test('reports another account’s VM as not found', async () => {
    const { id } = await app.given.vm(customer)
    const stranger = await app.given.customer()
    const [foreign, unknown] = [await stranger.get(`/vms/${id}/bandwidth/packs`), await stranger.get('/vms/cunknown1/bandwidth/packs')]
    expect([foreign.status, foreign.body.error]).toEqual([404, 'VM not found'])
    expect(foreign.body).toEqual(unknown.body)
  })
})
