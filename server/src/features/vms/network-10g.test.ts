import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'

describe('network10gEnabled', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const setUplink = (mbps: number | null) => app.db.run(sql`update hosts set uplink_mbps = ${mbps}`)
  const balance = async () => (await customer.get('/wallet')).body.data.balance as string

  test.each([null, 1000, 9999])('is refused in a region whose hosts have a link of %s Mbit/s, and nothing is charged', async (mbps) => {
    await setUplink(mbps)
    const before = await balance()
    const { status, headers, body } = await customer.post('/vms', { ...(await app.given.vmInput()), network10gEnabled: true })
    expect([status, headers['x-error-code'], body.error]).toEqual([
      422,
      'unavailable',
      '10G is not available in fra1: no host there has such a network card',
    ])
    expect((await customer.post('/vms', await app.given.vmInput())).status).toBe(202)
    expect(Number(before) - Number(await balance())).toBe(6)
    await app.settle()
  })

  test('is refused for a VM on a host without such a card, and can still be switched off', async () => {
    await setUplink(10_000)
    const { id } = await app.given.vm(customer, { network10gEnabled: true })
    await setUplink(1000)
    expect((await customer.patch(`/vms/${id}`, { name: 'still', network10gEnabled: true })).status).toBe(200)
    expect((await customer.patch(`/vms/${id}`, { network10gEnabled: false })).status).toBe(200)
    const { status, headers, body } = await customer.patch(`/vms/${id}`, { network10gEnabled: true })
    expect([status, headers['x-error-code']]).toEqual([422, 'unavailable'])
    expect(body.error).toBe('The host of this VM has no 10G network card: create a new VM with 10G instead')
    await setUplink(10_000)
    expect((await customer.patch(`/vms/${id}`, { network10gEnabled: true })).status).toBe(200)
  })
})
