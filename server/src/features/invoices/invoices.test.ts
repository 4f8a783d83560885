import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../test/billing-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { toCursor } from '../../http/api/schema.ts'
import { openDb, sql } from '../../kernel/database/db.ts'
import { issueInvoices } from './issue.reconciler.ts'

const SELLER = {
  BERTH_SELLER_NAME: 'Harbour & Sons <b>',
  BERTH_SELLER_ADDRESS: 'Quay 1 | 20457 Hamburg',
  BERTH_SELLER_TAX: 'VAT DE123456789',
}
const app = await testApp({ environment: { ...SELLER, BERTH_PUBLIC_URL: 'https://cloud.example.com' } })
const { turn, balance } = await billingFixture(app)

type Customer = Awaited<ReturnType<typeof app.given.customer>>
const invoices = async (customer: Customer) => (await customer.get('/invoices?limit=100')).body.data as Record<string, string>[]
const invoice = async (customer: Customer, id: string) => (await customer.get(`/invoices/${id}`)).body.data
const at = (time: string) => app.clock.set(new Date(time))
const issue = () => issueInvoices.runOnce(app.deps)
const open = (url: string) => app.app.inject(url.replace('https://cloud.example.com', ''))
const cents = (text: string) => Math.round(Number(text) * 100)

describe('invoices', () => {
  test('are issued an hour after the month ends, one per month, and match the ledger', async () => {
    at('2027-01-10T12:00:00Z')
    const customer = await app.given.customer({ credit: '50.00' })
    const { id } = await app.given.vm(customer, { name: 'web' })
    at('2027-02-01T00:59:59Z')
    await issue()
    expect(await invoices(customer)).toEqual([])
    at('2027-02-01T01:00:00Z')
    await issue()
    await issue()
    at('2027-02-10T12:00:00Z')
    await turn()
    at('2027-02-15T12:00:00Z')
    await customer.delete(`/vms/${id}`)
    await app.settle()
    at('2027-03-01T01:00:00Z')
    await issue()
    const [second, first] = await invoices(customer)
    expect(first).toMatchObject({
      month: '2027-01',
      openingBalance: '0.00',
      paid: '50.00',
      charged: '6.00',
      closingBalance: '44.00',
      currency: 'USD',
    })
    expect(second).toMatchObject({ month: '2027-02', openingBalance: '44.00', paid: '0.00', closingBalance: await balance(customer) })
    const whole = await invoice(customer, first!['id']!)
    expect(whole).toMatchObject({
      ...first,
      seller: { name: 'Harbour & Sons <b>', address: ['Quay 1', '20457 Hamburg'], tax: 'VAT DE123456789' },
      customer: { name: '', email: customer.email },
      furtherLines: null,
      issuedAt: '2027-02-01T01:00:00.000Z',
    })
    expect(whole.lines.map((line: Record<string, string>) => [line['type'], line['amount'], line['referenceId']])).toEqual([
      ['CREDIT', '50.00', customer.accountId],
      ['VM_CHARGE', '-6.00', id],
    ])
    const lines = (await invoice(customer, second!['id']!)).lines as Record<string, string>[]
    expect(lines.map((line) => line['type'])).toEqual(['VM_RENEWAL', 'VM_REFUND'])
    expect(-lines.reduce((sum, line) => sum + cents(line['amount']!), 0)).toBe(cents(second!['charged']!))
  })

  test('have gapless numbers under concurrent issuing', async () => {
    at('2027-04-05T00:00:00Z')
    for (let i = 0; i < 30; i++) await app.given.customer({ credit: '1.00' })
    at('2027-05-02T00:00:00Z')
    const pools = [1, 2, 3].map(() => openDb({ url: app.db.url, maxConnections: 3, onError: () => {} }))
    await Promise.all(pools.map((db) => issueInvoices.runOnce({ ...app.deps, db }))).finally(() =>
      Promise.all(pools.map((db) => db.close())),
    )
    const numbers = (await app.db.many<{ number: number }>(sql`select number from invoices order by number`)).map(({ number }) => number)
    expect(numbers.length).toBeGreaterThanOrEqual(32)
    expect(numbers).toEqual(numbers.map((_, i) => i + 1))
  })

  test('of missed months are issued in order, and months without entries have none', async () => {
    at('2027-06-30T12:00:00Z')
    const customer = await app.given.customer({ credit: '30.00' })
    at('2027-09-15T12:00:00Z')
    await app.given.vm(customer)
    at('2027-11-20T00:00:00Z')
    await issue()
    expect((await invoices(customer)).map(({ month, openingBalance, closingBalance }) => [month, openingBalance, closingBalance])).toEqual([
      ['2027-09', '30.00', '24.00'],
      ['2027-06', '0.00', '30.00'],
    ])
    await app.deps.db.run(sql`update vms set next_renewal_at = '2028-06-01' where account_id = ${customer.accountId}`)
  })

  test('include late ledger entries of the previous month', async () => {
    at('2027-12-31T23:59:59Z')
    const customer = await app.given.customer({ credit: '5.00' })
    at('2028-01-02T00:00:00Z')
    await issue()
    at('2027-12-31T23:59:59.999Z')
    const { creditByOperator } = await import('../wallet/adjustments.ts')
    const order = { accountId: customer.accountId, amount: 100n, reason: 'late', currency: 'USD' }
    await app.db.tx((tx) => creditByOperator(tx, app.deps, order))
    at('2028-01-03T00:00:00Z')
    await issue()
    expect(await invoices(customer)).toHaveLength(1)
    at('2028-02-02T00:00:00Z')
    await issue()
    expect((await invoices(customer)).map(({ month, paid }) => [month, paid])).toEqual([
      ['2028-01', '1.00'],
      ['2027-12', '5.00'],
    ])
  })

  test('are listed by cursor without regard to those of others', async () => {
    at('2028-02-10T12:00:00Z')
    const [customer, stranger] = [await app.given.customer({ credit: '5.00' }), await app.given.customer({ credit: '5.00' })]
    const { creditByOperator } = await import('../wallet/adjustments.ts')
    const order = { accountId: stranger.accountId, amount: 100n, reason: 'gift', currency: 'USD' }
    await app.db.tx((tx) => creditByOperator(tx, app.deps, order))
    at('2028-03-02T00:00:00Z')
    await issue()
    const [foreign] = await invoices(stranger)
    expect(await invoices(customer)).toHaveLength(1)
    const { status, body } = await customer.get(`/invoices?cursor=${toCursor('listInvoices', [foreign!['id']!])}`)
    expect([status, body.data]).toEqual([200, []])
  })

  test('show 1,000 lines and the sum of the others', async () => {
    at('2028-03-05T12:00:00Z')
    const customer = await app.given.customer({ credit: '5.00' })
    await app.db.run(sql`
      insert into wallet_transactions (id, account_id, number, type, amount_cents, balance_after_cents, description, reference_type, reference_id, created_at)
      select ${customer.accountId} || n, ${customer.accountId}, n, 'CREDIT', 1, 499 + n, 'gift ' || n, 'ADMIN', ${customer.accountId}, ${app.clock.now()}
      from generate_series(2, 1203) n`)
    await app.db.run(sql`update wallets set balance_cents = 1702, transaction_count = 1203 where account_id = ${customer.accountId}`)
    at('2028-04-01T01:30:00Z')
    await issue()
    const { id } = (await invoices(customer))[0]!
    const whole = await invoice(customer, id!)
    expect([whole.lines.length, whole.lines.at(-1).description, whole.furtherLines]).toEqual([
      1_000,
      'gift 1000',
      { count: 203, amount: '2.03' },
    ])
    expect(whole.closingBalance).toBe('17.02')
    const { body } = await open(whole.pageUrl)
    expect(body.match(/gift /g)).toHaveLength(999)
    expect(body).toContain('<td>203 further transactions</td><td>2.03</td>')
  })

  test('are immutable', async () => {
    const { id } = await app.db.one<{ id: string }>(sql`select id from invoices limit 1`)
    await expect(app.db.run(sql`update invoices set charged_cents = 0, paid_cents = 0 where id = ${id}`)).rejects.toThrow(
      'issued invoices are immutable',
    )
    await expect(app.db.run(sql`delete from invoices where id = ${id}`)).rejects.toThrow('issued invoices are immutable')
  })
})

describe('invoice page', async () => {
  at('2028-03-10T12:00:00Z')
  const customer = await app.given.customer({ credit: '50.00' })
  await app.given.vm(customer, { name: '<script>alert(1)</script>"&' })
  at('2028-04-01T02:00:00Z')
  await issue()
  const { pageUrl, number } = await invoice(customer, (await invoices(customer))[0]!['id']!)

  test('is self-contained and runs no scripts', async () => {
    const { statusCode, headers, body } = await open(pageUrl)
    expect(statusCode, body).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(body).toContain(`Invoice ${number}`)
    expect(body).toContain('First month of &lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;')
    expect(body).toContain('Harbour &amp; Sons &lt;b&gt;<br>Quay 1<br>20457 Hamburg<br>VAT DE123456789')
    expect(body).toContain('<td>Balance after</td><td>44.00</td>')
    expect(body).not.toMatch(/<script|<img|<link|src=|href=|url\(|@import|https?:/)
  })

  test('requires a signed link, valid for an hour', async () => {
    const [path, signature] = pageUrl.split('&signature=') as [string, string]
    const later = path.replace(/expires=\d+/, (text) => `${text}0`)
    for (const url of [path, `${path}&signature=`, `${path}&signature=${signature.slice(1)}`, `${later}&signature=${signature}`]) {
      expect((await open(url)).statusCode).toBe(401)
    }
    const other = pageUrl.replace(/invoices\/\w+/, 'invoices/cunknown1')
    expect((await open(other)).statusCode).toBe(401)
    at('2028-04-01T03:00:00Z')
    expect((await open(pageUrl)).statusCode).toBe(401)
  })
})
