import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../test/billing-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'

describe('three concurrent schedulers', async () => {
  const app = await testApp()
  const { schedulers, balance, toRenewal, vm } = await billingFixture(app)

  test('charge each of 200 VMs exactly once', async () => {
    const customers = await Promise.all(['a', 'b', 'c', 'd'].map(() => app.given.customer({ credit: '1000.00' })))
    const fifty = async (customer: (typeof customers)[number]) => {
      for (let i = 0; i < 50; i++) await app.given.vm(customer, { hostname: `vm-${i}` }, { settled: false })
    }
    await Promise.all(customers.map(fifty))
    await app.settle()
    const first = (await customers[0]!.get('/vms?limit=1')).body.data[0] as { id: string }
    await toRenewal(customers[0]!, first.id)
    await schedulers(3)
    const counts = await app.db.many(sql`
      select count(*)::int as charges, count(distinct reference_id)::int as vms from wallet_transactions where type = 'VM_RENEWAL'`)
    expect(counts).toEqual([{ charges: 200, vms: 200 }])
    expect(await Promise.all(customers.map(balance))).toEqual(Array(4).fill('400.00'))
    expect(await app.db.one(sql`select count(*)::int as told from events where type = 'vm.renewed'`)).toEqual({ told: 200 })
  }, 120_000)

  test('spend a balance too low for all VMs on the oldest debt', async () => {
    const customer = await app.given.customer({ credit: '84.00' })
    const ids: string[] = []
    for (let i = 0; i < 10; i++) {
      ids.push((await app.given.vm(customer, { hostname: `vm-${i}` })).id)
      app.clock.advance('1s')
    }
    await toRenewal(customer, ids.at(-1)!)
    await schedulers(3)
    const statuses = await Promise.all(ids.map(async (id) => (await vm(customer, id)).billing.status as string))
    expect(statuses).toEqual([...Array(4).fill('ACTIVE'), ...Array(6).fill('PAST_DUE')])
    expect(await balance(customer)).toBe('0.00')
  })
})
