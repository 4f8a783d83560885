import { Stripe } from 'stripe'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { disputeEvent } from '../../../test/stripe-fixture.ts'
import { readConfig } from '../../config.ts'
import { sql } from '../../kernel/database/db.ts'
import { openPayments } from './create-provider.ts'
import { expireDeposits } from './expire.reconciler.ts'
import { confirmPayment } from './service.ts'

describe('manual deposits', async () => {
  const app = await testApp({ environment: { BERTH_PAYMENTS: 'manual', BERTH_PAYMENT_INSTRUCTIONS: 'Transfer to DE00 1234' } })
  const confirm = (id: string, amount: bigint | null = null) => app.db.tx((tx) => confirmPayment(tx, app.deps, id, amount))

  test("show payment instructions, wait for the operator's confirmation, and are credited once", async () => {
    const customer = await app.given.customer()
    const { data } = (await customer.post('/wallet/deposits', { amount: '40' })).body
    expect(data).toMatchObject({ status: 'PENDING', checkoutUrl: null, instructions: `Transfer to DE00 1234 · Reference: ${data.id}` })
    const results = await Promise.allSettled([confirm(data.id), confirm(data.id)])
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect((await customer.get('/wallet')).body.data.balance).toBe('40.00')
    expect((await customer.get(`/wallet/deposits/${data.id}`)).body.data).toMatchObject({ status: 'SUCCEEDED', instructions: null })
  })

  test('are credited with the amount received', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/wallet/deposits', { amount: '40' })).body.data
    await expect(confirm(id, 0n)).rejects.toThrow('more than 0.00')
    await confirm(id, 3_950n)
    expect((await customer.get(`/wallet/deposits/${id}`)).body.data.amount).toBe('39.50')
    expect((await customer.get('/wallet')).body.data.balance).toBe('39.50')
  })

  const create = (customer: Awaited<ReturnType<typeof app.given.customer>>) => customer.post('/wallet/deposits', { amount: '40' })

  test('are at most ten open ones of an account, also concurrently', async () => {
    const [customer, other] = [await app.given.customer(), await app.given.customer()]
    const statuses = (await Promise.all(Array.from({ length: 14 }, () => create(customer)))).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array<number>(10).fill(201), ...Array<number>(4).fill(422)])
    const { headers, body } = await create(customer)
    expect([headers['x-error-code'], body.error]).toEqual([
      'quota_exceeded',
      'Quota exceeded: 10 deposits of this account are not paid yet. Pay one of them, or wait until they expire',
    ])
    expect((await create(other)).status).toBe(201)
    await confirm((await customer.get('/wallet/deposits')).body.data[0].id)
    expect((await create(customer)).status).toBe(201)
  })

  test('expire after 14 days, and are still credited when the money arrives later', async () => {
    const customer = await app.given.customer()
    const { id } = (await create(customer)).body.data
    app.clock.advance('13d')
    const { id: younger } = (await create(customer)).body.data
    app.clock.advance('25h')
    await expireDeposits.runOnce(app.deps)
    const deposits = (await customer.get('/wallet/deposits')).body.data as object[]
    expect(deposits).toMatchObject([
      { id: younger, status: 'PENDING' },
      { id, status: 'EXPIRED', instructions: null, updatedAt: app.clock.now().toISOString() },
    ])
    await confirm(id)
    expect((await customer.get('/wallet')).body.data.balance).toBe('40.00')
    expect((await customer.get(`/wallet/deposits/${id}`)).body.data.status).toBe('SUCCEEDED')
  })

  test('can be created by a suspended account', async () => {
    const customer = await app.given.customer()
    await app.db.run(sql`update accounts set suspended_at = ${app.clock.now()} where id = ${customer.accountId}`)
    expect((await create(customer)).status).toBe(201)
  })

  test('answer 404 to Stripe events', async () => {
    const { statusCode, body } = await app.app.inject({ method: 'POST', url: '/webhooks/stripe', payload: '{}' })
    expect([statusCode, JSON.parse(body)]).toEqual([
      404,
      { success: false, error: 'Stripe is not set up here: see docs/operate/payments.md' },
    ])
  })
})

test('deposits without a provider are rejected with a message', async () => {
  const app = await testApp()
  const { status, body, headers } = await (await app.given.customer()).post('/wallet/deposits', { amount: '10' })
  expect([status, headers['x-error-code'], body.error]).toEqual([
    422,
    'unavailable',
    'Deposits are not open here: ask support how to put money into your wallet',
  ])
})

test('Stripe events are accepted while its keys are set, even without new Stripe deposits', async () => {
  const secret = 'whsec_berth'
  const app = await testApp({
    environment: { BERTH_PAYMENTS: 'off', BERTH_STRIPE_SECRET_KEY: 'sk_test_berth', BERTH_STRIPE_WEBHOOK_SECRET: secret },
  })
  const payload = disputeEvent('funds_withdrawn', { paymentId: 'earlier', cents: 100 })
  const signature = new Stripe('sk_test_berth').webhooks.generateTestHeaderString({ payload, secret })
  const headers = { 'stripe-signature': signature }
  const { statusCode } = await app.app.inject({ method: 'POST', url: '/webhooks/stripe', payload, headers })
  expect([statusCode, (await (await app.given.customer()).post('/wallet/deposits', { amount: '10' })).status]).toEqual([200, 422])
})

test.each([
  [{ BERTH_STRIPE_SECRET_KEY: 'sk_x' }, 'needs both'],
  [{ BERTH_STRIPE_WEBHOOK_SECRET: 'whsec_x' }, 'needs both'],
  [{ BERTH_STRIPE_SECRET_KEY: 'sk_x', BERTH_STRIPE_WEBHOOK_SECRET: 'whsec_x', BERTH_CURRENCY: 'JPY' }, 'JPY'],
])('settings %j are rejected with a message', (environment, sentence) => {
  expect(() => openPayments(readConfig(environment))).toThrow(sentence)
})
