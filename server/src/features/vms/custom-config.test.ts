import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'

describe('customConfig', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  const customer = await app.given.customer({ credit: '1000.00' })
  const size = { vcpu: 1, ram: 1024, disk: 10 }
  const vm = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  const create = async (customConfig: object) => customer.post('/vms', { ...(await app.given.vmInput()), customConfig })
  const upgrade = async (id: string, body: object, query = '') => {
    const { status, headers, body: answer } = await customer.post(`/vms/${id}/upgrade${query}`, body)
    if (status === 202) await app.settle({ subjectId: id })
    return status < 300 ? answer.data : [status, headers['x-error-code']]
  }

  const setPrices = () =>
    app.db.run(
      sql`insert into catalog_values (name, value) values ('price.custom_bandwidth_100_gb', 40), ('price.custom_network_100_mbps', 100)`,
    )

  test.each([{ bandwidth: 5000 }, { networkSpeed: 2000 }])('refuses %j without a price', async (more) => {
    await app.db.run(sql`delete from catalog_values where name in ('price.custom_bandwidth_100_gb', 'price.custom_network_100_mbps')`)
    const { status, headers } = await create({ ...size, ...more })
    await setPrices()
    expect([status, headers['x-error-code']]).toEqual([422, 'unavailable'])
  })

  describe('with prices for traffic and speed', async () => {
    await setPrices()
    const { id } = await app.given.vm(customer, { customConfig: size })

    test('includes what the catalog says', async () => {
      expect(await vm(id)).toMatchObject({ bandwidth: 4000, networkSpeed: 1000, plan: { slug: 'custom', priceMonthly: '5.50' } })
    })

    test('charges what exceeds it, by 100', async () => {
      const { body } = await create({ ...size, bandwidth: 6000, networkSpeed: 2500 })
      expect(body.data.vm).toMatchObject({ bandwidth: 6000, networkSpeed: 2500, plan: { priceMonthly: '28.50' } })
      await app.settle()
    })

    test('sells less than is included for the same price', async () => {
      const { body } = await create({ ...size, bandwidth: 100, networkSpeed: 100 })
      expect(body.data.vm).toMatchObject({ bandwidth: 100, networkSpeed: 100, plan: { priceMonthly: '5.50' } })
      await app.settle()
    })

    test.each([{ bandwidth: 50 }, { bandwidth: 150 }, { bandwidth: 100_100 }, { networkSpeed: 10_100 }, { networkSpeed: 0 }])(
      'rejects %j',
      async (more) => {
        expect((await create({ ...size, ...more })).status).toBe(400)
      },
    )

    test('is upgraded to a larger one, at the price of the difference', async () => {
      const quote = await upgrade(id, { customConfig: { ...size, vcpu: 2, bandwidth: 5000 } }, '?dryRun=true')
      expect(quote).toMatchObject({ charge: '6.00', monthly: '11.50' })
      await upgrade(id, { customConfig: { ...size, vcpu: 2, bandwidth: 5000 } })
      expect(await vm(id)).toMatchObject({
        status: 'RUNNING',
        vcpu: 2,
        bandwidth: 5000,
        plan: { slug: 'custom', priceMonthly: '11.50' },
        billing: { priceMonthly: '11.50' },
      })
    })

    test('is upgraded in traffic or speed alone, and never made smaller', async () => {
      const now = { ...size, vcpu: 2, bandwidth: 5000 }
      expect(await upgrade(id, { customConfig: now })).toEqual([422, 'plan_not_larger'])
      expect(await upgrade(id, { customConfig: { ...now, vcpu: 4, bandwidth: 4500 } })).toEqual([422, 'plan_not_larger'])
      expect(await upgrade(id, { customConfig: { ...now, networkSpeed: 1500 } })).toMatchObject({ actionId: expect.any(String) })
      expect(await vm(id)).toMatchObject({ networkSpeed: 1500, bandwidth: 5000 })
    })

    test('replaces a plan', async () => {
      const { id: planned } = await app.given.vm(customer)
      expect(await upgrade(planned, { customConfig: { vcpu: 2, ram: 2048, disk: 25 } })).toMatchObject({ actionId: expect.any(String) })
      expect(await vm(planned)).toMatchObject({ vcpu: 2, plan: { slug: 'custom' } })
    })

    test('needs exactly one of planId and customConfig', async () => {
      const planId = (await customer.get('/plans')).body.data[4].id as string
      expect(await upgrade(id, {})).toEqual([400, 'validation_failed'])
      expect(await upgrade(id, { planId, customConfig: { ...size, vcpu: 8 } })).toEqual([400, 'validation_failed'])
    })
  })
})
