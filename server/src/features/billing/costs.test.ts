import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { parseCents } from '../../kernel/money.ts'
import { renewals } from './renew.reconciler.ts'
import type { Costs, TransactionDetail } from '../wallet/schema.ts'

const app = await testApp()
await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
type Customer = Pick<Awaited<ReturnType<typeof app.given.customer>>, 'get'>

const costs = async (of: Customer, query = ''): Promise<Costs> => {
  const { status, body } = await of.get(`/wallet/costs?${query}`)
  expect(status, body.error).toBe(200)
  return body.data as Costs
}
const monthOf = (at = app.clock.now()): string => at.toISOString().slice(0, 7)
const sum = (amounts: string[]): bigint => amounts.reduce((total, amount) => total + parseCents(amount), 0n)

/** A VM in production, one without labels, one that was renewed and one that is deleted. */
async function spend(of: Awaited<ReturnType<typeof app.given.customer>>): Promise<{ prod: string; plain: string; deleted: string }> {
  const prod = await app.given.vm(of, { name: 'shop', labels: { env: 'prod' }, dailyBackupEnabled: true })
  const plain = await app.given.vm(of, { name: 'plain' })
  const deleted = await app.given.vm(of, { name: 'gone', labels: { env: 'test' } })
  app.clock.advance('1d')
  expect((await of.delete(`/vms/${deleted.id}`)).status).toBe(202)
  await app.settle()
  return { prod: prod.id, plain: plain.id, deleted: deleted.id }
}

const BY = ['resource', 'type', 'project', 'label:env', 'label:none']

test('every way to group a month adds up to its charges less its refunds, to the cent', async () => {
  const customer = await app.given.customer({ credit: '1000.00' })
  await spend(customer)
  app.clock.advance('32d')
  await renewals.runOnce(app.deps)
  await app.settle()
  const { data } = (await customer.get('/wallet/transactions?limit=100')).body as { data: TransactionDetail[] }
  const months = new Set(data.map(({ createdAt }) => createdAt.slice(0, 7)))
  expect(months.size).toBeGreaterThan(1)
  for (const month of months) {
    const own = data.filter(({ createdAt, type }) => createdAt.startsWith(month) && type !== 'CREDIT')
    const expected = -sum(own.map(({ amount }) => amount))
    for (const by of BY) {
      const found = await costs(customer, `month=${month}&by=${by}`)
      expect([by, parseCents(found.amount), found.entries]).toEqual([by, expected, own.length])
      expect(sum(found.groups.map(({ amount }) => amount))).toBe(expected)
      expect(sum(found.groups.map(({ charged }) => charged)) - sum(found.groups.map(({ refunded }) => refunded))).toBe(expected)
      expect(found.furtherGroups).toBeNull()
    }
  }
})

test('names what was paid for, also when it is deleted, and leads to its entries', async () => {
  const customer = await app.given.customer({ credit: '1000.00' })
  const { prod, plain, deleted } = await spend(customer)
  const month = monthOf()
  const { groups } = await costs(customer, 'by=resource')
  expect(groups.map(({ key, name, deleted: isDeleted, resourceType }) => [key, name, isDeleted, resourceType])).toEqual([
    [prod, 'shop', false, 'VM'],
    [plain, 'plain', false, 'VM'],
    [deleted, 'gone', true, 'VM'],
  ])
  const byLabel = (await costs(customer, 'by=label:env')).groups
  expect(new Set(byLabel.map(({ key }) => key))).toEqual(new Set(['prod', 'test', null]))
  const listed = async (query: string) => {
    const { status, body } = await customer.get(`/wallet/transactions?kind=COST&dateFrom=${month}-01&limit=100&${query}`)
    expect(status, body.error).toBe(200)
    return -sum(body.data.map(({ amount }: TransactionDetail) => amount))
  }
  for (const { key, amount } of groups) expect(await listed(`referenceId=${key}`)).toBe(parseCents(amount))
  for (const { key, amount } of byLabel)
    expect(await listed(`labelSelector=${encodeURIComponent(key === null ? '!env' : `env=${key}`)}`)).toBe(parseCents(amount))
  expect((await customer.get('/wallet/transactions?kind=PAYMENT')).body.data.map(({ type }: TransactionDetail) => type)).toEqual(['CREDIT'])
  expect(await listed('projectId=none')).toBe(sum(groups.map(({ amount }) => amount)))
})

test('a transaction says what caused it', async () => {
  const customer = await app.given.customer({ credit: '1000.00' })
  const { prod, deleted } = await spend(customer)
  const detail = async (type: string, referenceId: string): Promise<TransactionDetail> => {
    const { id } = (await customer.get(`/wallet/transactions?type=${type}&referenceId=${referenceId}`)).body.data[0]
    return (await customer.get(`/wallet/transactions/${id}`)).body.data
  }
  const charge = await detail('VM_CHARGE', prod)
  expect(charge.resource).toEqual({ id: prod, name: 'shop', labels: { env: 'prod' }, deleted: false })
  expect(charge.action).toMatchObject({ action: 'CREATE', status: 'COMPLETED' })
  expect(charge.priceParts.map(({ part }) => part)).toEqual(['PLAN', 'DAILY_BACKUP'])
  expect(sum(charge.priceParts.map(({ amount }) => amount))).toBe(parseCents(charge.amount))
  expect(parseCents(charge.balanceBefore!) + parseCents(charge.amount)).toBe(parseCents(charge.balanceAfter!))
  const refund = await detail('VM_REFUND', deleted)
  expect(refund.resource).toEqual({ id: deleted, name: 'gone', labels: { env: 'test' }, deleted: true })
  expect(refund.action).toMatchObject({ action: 'DELETE' })
  const { data } = (await customer.get('/wallet/transactions?kind=PAYMENT')).body
  expect((await customer.get(`/wallet/transactions/${data[0].id}`)).body.data).toMatchObject({
    resource: null,
    action: null,
    priceParts: [],
  })
})

test('a project sees its own costs, without the balance of the account that pays', async () => {
  const customer = await app.given.customer({ credit: '1000.00' })
  await spend(customer)
  const project = await app.given.project(customer, 'shop')
  const vm = await app.given.vm(project, { name: 'inside', labels: { env: 'prod' } })
  const inside = await costs(project)
  expect(inside.groups.map(({ key, name }) => [key, name])).toEqual([[vm.id, 'inside']])
  const all = await costs(customer, 'by=project')
  expect(new Map(all.groups.map(({ key, amount }) => [key, amount])).get(project.accountId)).toBe(inside.amount)
  const { data } = (await project.get('/wallet/transactions')).body
  const own = (await project.get(`/wallet/transactions/${data[0].id}`)).body.data
  expect(own).toMatchObject({ balanceBefore: null, balanceAfter: null, resource: { name: 'inside' } })
  const outside = (await customer.get('/wallet/transactions?projectId=none')).body.data
  for (const { id } of outside) expect((await project.get(`/wallet/transactions/${id}`)).status).toBe(404)
  expect((await project.get('/wallet/transactions?projectId=none')).body.data).toHaveLength(data.length)
  expect((await project.get('/wallet/timeline')).status).toBe(403)
})

test('strangers see nothing, and what is no month or label is refused', async () => {
  const [customer, stranger] = [await app.given.customer({ credit: '1000.00' }), await app.given.customer({ credit: '1.00' })]
  const { prod } = await spend(customer)
  const { id } = (await customer.get('/wallet/transactions')).body.data[0]
  expect((await stranger.get(`/wallet/transactions/${id}`)).status).toBe(404)
  expect((await stranger.get(`/wallet/transactions?referenceId=${prod}`)).body.data).toEqual([])
  expect((await costs(stranger)).groups).toEqual([])
  for (const query of ['month=2026-13', 'month=2026', 'by=vm', 'by=label:', "by=label:a'b", 'month=9999-01'])
    expect((await customer.get(`/wallet/costs?${query}`)).status, query).toBe(400)
  for (const query of ['kind=ALL', 'referenceId=', 'labelSelector=a b', `referenceId=${'x'.repeat(65)}`])
    expect((await customer.get(`/wallet/transactions?${encodeURI(query)}`)).status, query).toBe(400)
})

test('the timeline ends each past day with its balance, and takes the renewals to come from it', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  app.clock.advance('3d')
  const vm = await app.given.vm(customer)
  const price = parseCents((await customer.get(`/vms/${vm.id}`)).body.data.billing.priceMonthly)
  const { data } = (await customer.get('/wallet/timeline?days=70')).body
  expect([data.past.length, data.upcoming.length]).toEqual([70, 70])
  expect([data.past[0].balance, data.past.at(-2).balance, data.past.at(-1).balance]).toEqual(['0.00', '100.00', data.balance])
  expect(parseCents(data.monthly)).toBe(price)
  const due = data.upcoming.filter(({ charge }: { charge: string }) => charge !== '0.00')
  expect(due.map(({ charge }: { charge: string }) => parseCents(charge))).toEqual([price, price])
  expect(parseCents(data.upcoming.at(-1).balance)).toBe(parseCents(data.balance) - 2n * price)
  expect((await customer.get('/wallet/timeline?days=367')).status).toBe(400)
})
