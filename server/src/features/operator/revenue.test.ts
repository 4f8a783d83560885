import { expect, test } from 'vitest'
import { givenBrowser } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { formatCents, parseCents } from '../../kernel/money.ts'

const app = await testApp()

test('the revenue of all months is the ledger to the cent', async () => {
  app.clock.set(new Date('2027-01-20T12:00:00Z'))
  await app.db.run(sql`update address_pools set host_id = null`)
  const customers = [await app.given.customer({ credit: '500.00' }), await app.given.customer({ credit: '33.33' })]
  const [vmId, gone] = [(await app.given.vm(customers[0]!)).id, (await app.given.vm(customers[0]!)).id]
  await app.given.vm(customers[1]!)
  await customers[0]!.post('/addresses', { regionId: (await app.given.vmInput()).regionId })
  app.clock.set(new Date('2027-01-31T23:59:59.999Z'))
  await customers[0]!.delete(`/vms/${gone}`)
  await app.settle({ subjectId: gone })
  app.clock.set(new Date('2027-02-01T00:00:00.001Z'))
  const operator = await givenBrowser(app, { isOperator: true })
  const { accountId } = customers[1]!
  expect((await operator.post(`/operator/accounts/${accountId}/adjust`, { amount: '-0.07', reason: 'A cent or seven' })).status).toBe(201)
  const read = async (month?: string) => (await operator.get(`/operator/revenue${month ? `?month=${month}` : ''}`)).body.data
  const months = [await read('2027-01'), await read(), await read('2027-03')]
  expect(months.map(({ month }) => month)).toEqual(['2027-01', '2027-02', '2027-03'])
  const cents = (texts: string[]): bigint => texts.reduce((sum, text) => sum + parseCents(text), 0n)
  const ledger = await app.db.one<{ sum: bigint }>(sql`select sum(amount_cents)::int8 as sum from wallet_transactions`)
  const wallets = await app.db.one<{ sum: bigint }>(sql`select sum(balance_cents)::int8 as sum from wallets`)
  expect(cents(months.flatMap(({ rows }) => rows.map(({ amount }: { amount: string }) => amount)))).toBe(ledger.sum)
  expect(cents(months.map(({ change }) => change))).toBe(ledger.sum)
  for (const { charges, refunds, net, deposits, credits, change } of months) {
    expect(parseCents(net)).toBe(parseCents(charges) - parseCents(refunds))
    expect(parseCents(change)).toBe(parseCents(deposits) + parseCents(credits) - parseCents(net))
  }
  expect(months[0].balances).toBe(formatCents(wallets.sum))
  expect(months[1]).toMatchObject({ credits: '-0.07', charges: '0.00' })
  expect(months[0].rows.some(({ region, type }: { region: string | null; type: string }) => region === null && type === 'VM_REFUND')).toBe(
    true,
  )
  expect(months[0].rows.some(({ region }: { region: string | null }) => region === 'fra1')).toBe(true)
  const [first] = months[0].topAccounts
  expect(first).toMatchObject({ accountId: customers[0]!.accountId, email: customers[0]!.email })
  expect(cents(months[0].topAccounts.map(({ net }: { net: string }) => net))).toBe(parseCents(months[0].net))
  const vms = await app.db.one<{ sum: bigint }>(
    sql`select (sum(v.period_price_cents) + (select sum(period_price_cents) from addresses))::int8 as sum from vms v where billing_status = 'ACTIVE'`,
  )
  expect(months[0].monthly).toBe(formatCents(vms.sum))
  expect(vmId).toBeDefined()
})

test('refuses what is no month, and everybody but operators', async () => {
  const operator = await givenBrowser(app, { isOperator: true })
  expect((await operator.get('/operator/revenue?month=2027-13')).status).toBe(400)
  expect((await (await givenBrowser(app)).get('/operator/revenue')).status).toBe(403)
})
