import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../test/billing-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { lowBalance } from './low-balance.reconciler.ts'

describe('billing.low_balance', async () => {
  const app = await testApp()
  const { deposit, toRenewal } = await billingFixture(app)
  const warnings = (accountId: string) =>
    app.db.many<{ data: unknown }>(
      sql`select data from events where account_id = ${accountId} and type = 'billing.low_balance' order by number`,
    )
  const pass = () => lowBalance.runOnce(app.deps)

  test('is recorded once a day from a week before renewals that the balance does not cover', async () => {
    const customer = await app.given.customer({ credit: '23.99' })
    const [{ id }] = [await app.given.vm(customer), await app.given.vm(customer)]
    await toRenewal(customer, id)
    app.clock.set(new Date(app.clock.now().getTime() - 7 * 86_400_000 - 1))
    await pass()
    expect(await warnings(customer.accountId)).toEqual([])
    app.clock.advance('1ms')
    await Promise.all([pass(), pass(), pass()])
    const expected = { data: { transaction: null, wallet: { balance: '11.99', currency: 'USD' }, dueNext7Days: '12.00' } }
    expect(await warnings(customer.accountId)).toEqual([expected])
    app.clock.advance('23h')
    await pass()
    expect(await warnings(customer.accountId)).toEqual([expected])
    app.clock.advance('1h')
    await pass()
    expect(await warnings(customer.accountId)).toEqual([expected, expected])
    await deposit(customer, '0.01')
    app.clock.advance('24h')
    await pass()
    expect((await warnings(customer.accountId)).length).toBe(2)
  })

  test('is not recorded for an account with enough balance or without renewals', async () => {
    const rich = await app.given.customer({ credit: '12.00' })
    const failing = await app.given.customer({ credit: '6.00' })
    const empty = await app.given.customer()
    const { id } = await app.given.vm(rich)
    await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent' })
    await app.given.vm(failing)
    await toRenewal(rich, id)
    await pass()
    for (const { accountId } of [rich, failing, empty]) expect(await warnings(accountId)).toEqual([])
  })
})

describe('GET /wallet', async () => {
  const app = await testApp()
  const { beyondGrace, turn, toRenewal } = await billingFixture(app)

  test('shows the amount due within a week and how long the balance lasts', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const wallet = async () => (await customer.get('/wallet')).body.data
    const { id } = await app.given.vm(customer)
    const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
    app.clock.advance('3d')
    await app.given.vm(customer, { planId: plans.find((each) => each.slug === 'medium')!.id })
    expect(await wallet()).toEqual({ balance: '82.00', currency: 'USD', dueNext7Days: '0.00', daysLeft: 136 })
    await toRenewal(customer, id)
    app.clock.set(new Date(app.clock.now().getTime() - 7 * 86_400_000))
    expect((await wallet()).dueNext7Days).toBe('6.00')
    app.clock.advance('4d')
    expect((await wallet()).dueNext7Days).toBe('18.00')
    await toRenewal(customer, id)
    await turn()
    expect(await wallet()).toMatchObject({ balance: '76.00', dueNext7Days: '12.00' })
  })

  test('counts a past-due VM as due', async () => {
    const customer = await app.given.customer({ credit: '6.00' })
    const { id } = await app.given.vm(customer)
    await beyondGrace(customer, id)
    expect((await customer.get('/wallet')).body.data).toMatchObject({ balance: '0.00', dueNext7Days: '6.00', daysLeft: 0 })
  })
})
