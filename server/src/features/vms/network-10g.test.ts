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

describe('customConfig.networkSpeed', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const setUplink = (mbps: number | null) => app.db.run(sql`update hosts set uplink_mbps = ${mbps}`)
  await app.db.run(sql`insert into catalog_values (name, value) values ('price.custom_network_100_mbps', 100)`)
  const size = { vcpu: 1, ram: 1024, disk: 10 }
  const create = async (customConfig: object) => customer.post('/vms', { ...(await app.given.vmInput()), customConfig })
  const outcome = ({ status, headers, body }: Awaited<ReturnType<typeof create>>) => [status, headers['x-error-code'], body.error]

  test('is sold only up to the speed of the network cards in the region', async () => {
    await setUplink(5000)
    expect(outcome(await create({ ...size, networkSpeed: 9900 }))).toEqual([
      422,
      'unavailable',
      'A networkSpeed of 9900 Mbit/s is not available in fra1: no host there has such a network card',
    ])
    expect((await create({ ...size, networkSpeed: 5000 })).status).toBe(202)
    await setUplink(null)
    expect((await create({ ...size, networkSpeed: 9900 })).status).toBe(202)
    await app.settle()
  })

  test("of an upgrade is sold only up to that of the VM's host, what the VM has stays", async () => {
    await setUplink(10_000)
    const { id } = await app.given.vm(customer, { customConfig: { ...size, networkSpeed: 2000 } })
    const upgrade = async (customConfig: object) => {
      const answer = await customer.post(`/vms/${id}/upgrade`, { customConfig })
      await app.settle({ subjectId: id })
      return answer
    }
    await setUplink(1000)
    expect(outcome(await upgrade({ ...size, networkSpeed: 9900 }))).toEqual([
      422,
      'unavailable',
      'The host of this VM has no network card for 9900 Mbit/s: create a new VM with this networkSpeed instead',
    ])
    expect((await upgrade({ ...size, vcpu: 2, networkSpeed: 2000 })).status).toBe(202)
    await setUplink(null)
    expect((await upgrade({ ...size, vcpu: 2, networkSpeed: 9900 })).status).toBe(202)
  })

  test('that is included is not compared: the operator has set it', async () => {
    await setUplink(100)
    expect((await create(size)).status).toBe(202)
    expect((await customer.post('/vms', await app.given.vmInput())).status).toBe(202)
    await app.settle()
  })
})
