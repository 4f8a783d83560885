import { describe, expect, test } from 'vitest'
import { disputeEvent, refundEvent, sessionEvent, stripeFixture, type PaymentOf } from '../../../test/stripe-fixture.ts'
import { openDb, sql } from '../../kernel/database/db.ts'
import { systemClock } from '../../kernel/clock.ts'
import { listAllPayments } from './service.ts'
import { applyProviderEvent } from './provider-events.ts'

const { app, asked, trouble, sign, deliver } = await stripeFixture()

type Customer = Awaited<ReturnType<typeof app.given.customer>>

async function begun(amount = '25.00') {
  const customer = await app.given.customer()
  const { status, body } = await customer.post('/wallet/deposits', { amount })
  expect(status, body.error).toBe(201)
  const paymentId = body.data.id as string
  const payment: PaymentOf = { paymentId, cents: Math.round(Number(amount) * 100) }
  const deposit = async () => (await customer.get(`/wallet/deposits/${paymentId}`)).body.data
  const balance = async () => (await customer.get('/wallet')).body.data.balance as string
  const ledger = async () =>
    ((await customer.get('/wallet/transactions')).body.data as Record<string, string>[]).map((each) => [each['type'], each['amount']])
  return { customer, payment, deposit, balance, ledger }
}

const received = { status: 200, body: { received: true } }
const pay = (payment: PaymentOf) => deliver(sessionEvent('completed', payment))
const spend = (customer: Customer, cents: bigint) =>
  app.db.tx(async (tx) => {
    const { adjustByOperator } = await import('../wallet/adjustments.ts')
    await adjustByOperator(tx, app.deps, { accountId: customer.accountId, amount: -cents, reason: 'spent', currency: 'USD' })
  })

describe('POST /wallet/deposits through Stripe Checkout', () => {
  test('opens no session beyond ten open deposits of an account', async () => {
    const customer = await app.given.customer()
    for (let n = 0; n < 10; n++) expect((await customer.post('/wallet/deposits', { amount: '25.00' })).status).toBe(201)
    const before = asked.length
    const { status, headers } = await customer.post('/wallet/deposits', { amount: '25.00' })
    expect([status, headers['x-error-code'], asked.length]).toEqual([422, 'quota_exceeded', before])
  })

  test('opens a session with our payment id and returns its URL', async () => {
    const { customer, payment, deposit } = await begun('25.5')
    const { path, key, authorization, form } = asked.at(-1)!
    expect([path, key, authorization]).toEqual(['/v1/checkout/sessions', payment.paymentId, 'Bearer sk_test_berth'])
    expect(Object.fromEntries(form)).toEqual({
      mode: 'payment',
      client_reference_id: payment.paymentId,
      customer_email: customer.email,
      'metadata[berth_payment]': payment.paymentId,
      'payment_intent_data[metadata][berth_payment]': payment.paymentId,
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '2550',
      'line_items[0][price_data][product_data][name]': 'Wallet deposit',
      success_url: 'https://cloud.example.com/payments/done',
      cancel_url: 'https://cloud.example.com/payments/cancelled',
    })
    expect(await deposit()).toMatchObject({
      status: 'PENDING',
      amount: '25.50',
      currency: 'USD',
      provider: 'stripe',
      checkoutUrl: expect.stringMatching(/^https:\/\/checkout\.stripe\.com\/c\/pay\/cs_test_/),
      refunded: '0.00',
      transactionId: null,
    })
  })

  test.each(['0.99', '50000.01', '-5', '1e3', '1.234', ''])('rejects %j without calling Stripe', async (amount) => {
    const customer = await app.given.customer()
    const before = asked.length
    const { status, body } = await customer.post('/wallet/deposits', { amount })
    expect([status, body.error]).toEqual([400, expect.stringContaining('amount must be')])
    expect(asked).toHaveLength(before)
  })

  test('opens one session for a repeated Idempotency-Key', async () => {
    const customer = await app.given.customer()
    const before = asked.length
    const ask = () => customer.post('/wallet/deposits', { amount: '10' }, { 'idempotency-key': 'once' })
    const [first, second] = [await ask(), await ask()]
    expect(second.body).toEqual(first.body)
    expect(asked).toHaveLength(before + 1)
  })

  test('answers an error when Stripe is unreachable, and stores nothing', async () => {
    const customer = await app.given.customer()
    trouble.status = 500
    const { status, body } = await customer.post('/wallet/deposits', { amount: '10' })
    trouble.status = 200
    expect([status, body.error]).toEqual([503, expect.stringContaining('nothing was charged')])
    expect((await customer.get('/wallet/deposits')).body.data).toEqual([])
  })
})

describe('Stripe event', () => {
  test('for a paid session credits the wallet and records an event', async () => {
    const { customer, payment, deposit, balance } = await begun()
    expect(await pay(payment)).toMatchObject(received)
    const { transactionId, ...rest } = await deposit()
    expect([await balance(), rest.status, rest.checkoutUrl]).toEqual(['25.00', 'SUCCEEDED', null])
    const [entry] = (await customer.get('/wallet/transactions')).body.data
    expect(entry).toMatchObject({
      id: transactionId,
      type: 'DEPOSIT',
      amount: '25.00',
      referenceType: 'PAYMENT',
      referenceId: payment.paymentId,
    })
    const events = (await customer.get('/events')).body.data as { type: string; data: { transaction: { id: string } } }[]
    expect(events.filter(({ type }) => type === 'billing.payment_received').map(({ data }) => data.transaction.id)).toEqual([transactionId])
  })

  test('is idempotent under duplicates and concurrency', async () => {
    const { payment, balance, ledger } = await begun()
    const same = sessionEvent('completed', payment)
    const copies = [...Array.from({ length: 10 }, () => same), ...Array.from({ length: 10 }, () => sessionEvent('completed', payment))]
    const answers = await Promise.all(copies.map((each) => deliver(each)))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect([await balance(), await ledger()]).toEqual(['25.00', [['DEPOSIT', '25.00']]])
  })

  test('is idempotent across processes', async () => {
    const { payment, balance } = await begun()
    const payload = sessionEvent('completed', payment)
    const genuine = (await app.deps.payments!.readNotice!(Buffer.from(payload), sign(payload)))!
    const pools = [1, 2, 3].map(() => openDb({ url: app.db.url, maxConnections: 5, onError: () => {} }))
    const all = pools.flatMap((db) => Array.from({ length: 5 }, () => db.tx((tx) => applyProviderEvent(tx, app.deps, 'stripe', genuine))))
    await Promise.all(all).finally(() => Promise.all(pools.map((db) => db.close())))
    expect(await balance()).toBe('25.00')
  })

  test('for a delayed payment method credits when the money arrives', async () => {
    const { payment, deposit, balance } = await begun()
    await deliver(sessionEvent('completed', payment, { paymentStatus: 'unpaid' }))
    expect([(await deposit()).status, await balance()]).toEqual(['PROCESSING', '0.00'])
    await deliver(sessionEvent('async_payment_succeeded', payment))
    expect([(await deposit()).status, await balance()]).toEqual(['SUCCEEDED', '25.00'])
    await deliver(sessionEvent('async_payment_failed', payment))
    expect([(await deposit()).status, await balance()]).toEqual(['SUCCEEDED', '25.00'])
  })

  test('sequence out of order ends in the same state', async () => {
    const { payment, deposit, balance } = await begun()
    await deliver(sessionEvent('async_payment_succeeded', payment))
    await deliver(sessionEvent('completed', payment, { paymentStatus: 'unpaid' }))
    await deliver(sessionEvent('expired', payment))
    expect([(await deposit()).status, await balance()]).toEqual(['SUCCEEDED', '25.00'])
  })

  test.each([
    ['expired', 'EXPIRED'],
    ['async_payment_failed', 'FAILED'],
  ])('that a session is %s ends the deposit, unless it is paid later', async (type, status) => {
    const { payment, deposit, balance } = await begun()
    await deliver(sessionEvent(type, payment, { paymentStatus: 'unpaid' }))
    expect([(await deposit()).status, (await deposit()).checkoutUrl, await balance()]).toEqual([status, null, '0.00'])
    await pay(payment)
    expect([(await deposit()).status, await balance()]).toEqual(['SUCCEEDED', '25.00'])
  })

  test('in another currency credits nothing', async () => {
    const { payment, deposit, balance } = await begun()
    await deliver(sessionEvent('completed', { ...payment, currency: 'eur' }))
    expect([(await deposit()).status, await balance()]).toEqual(['PENDING', '0.00'])
  })

  test('for a deposit renews a PAST_DUE VM', async () => {
    const customer = await app.given.customer({ credit: '6.00' })
    const { id } = await app.given.vm(customer)
    const renewsAt = (await customer.get(`/vms/${id}`)).body.data.billing.nextRenewalAt as string
    app.clock.set(new Date(renewsAt))
    await app.reconcile()
    expect((await customer.get(`/vms/${id}`)).body.data.billing.status).toBe('PAST_DUE')
    const { body } = await customer.post('/wallet/deposits', { amount: '10' })
    await pay({ paymentId: body.data.id, cents: 1_000 })
    await app.reconcile()
    expect((await customer.get(`/vms/${id}`)).body.data.billing.status).toBe('ACTIVE')
    expect((await customer.get('/wallet')).body.data.balance).toBe('4.00')
  })
})

describe('refund or chargeback', () => {
  test('is debited from the wallet, every part of it once', async () => {
    const { payment, deposit, ledger } = await begun()
    await pay(payment)
    await deliver(refundEvent(payment, 1_000))
    await deliver(refundEvent(payment, 2_500))
    await deliver(refundEvent(payment, 1_000)) // out of order
    expect(await ledger()).toEqual([
      ['ADJUSTMENT', '-15.00'],
      ['ADJUSTMENT', '-10.00'],
      ['DEPOSIT', '25.00'],
    ])
    expect(await deposit()).toMatchObject({ status: 'SUCCEEDED', refunded: '25.00' })
  })

  test('concurrent with the payment is debited', async () => {
    const { payment, balance } = await begun()
    const read = async (payload: string) => (await app.deps.payments!.readNotice!(Buffer.from(payload), sign(payload)))!
    const [paid, disputed] = [await read(sessionEvent('completed', payment)), await read(disputeEvent('funds_withdrawn', payment))]
    const [written, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const first = app.db.tx(async (tx) => {
      await applyProviderEvent(tx, app.deps, 'stripe', disputed)
      written.resolve()
      await released.promise
    })
    await written.promise
    let isOver = false
    const second = app.db.tx((tx) => applyProviderEvent(tx, app.deps, 'stripe', paid)).finally(() => (isOver = true))
    const waiting = () =>
      app.db.many(sql`
        select 1 from pg_locks join pg_database d on d.oid = database
        where d.datname = current_database() and locktype = 'advisory' and not granted`)
    await expect.poll(async () => isOver || (await waiting()).length > 0).toBe(true)
    released.resolve()
    await Promise.all([first, second])
    expect(await balance()).toBe('0.00')
  })

  test.each([true, false])('before the payment is debited when the payment arrives (with our id in it: %s)', async (metadata) => {
    const { payment, balance, ledger } = await begun()
    await deliver(refundEvent(payment, 500, { metadata }))
    await deliver(disputeEvent('funds_withdrawn', { ...payment, cents: 1_000 }))
    expect(await balance()).toBe('0.00')
    await pay(payment)
    expect(await balance()).toBe('10.00')
    expect((await ledger()).at(-1)).toEqual(['DEPOSIT', '25.00'])
  })

  test('never takes a wallet below zero, and the shortfall is reported to the operator', async () => {
    const { customer, payment, balance } = await begun()
    await pay(payment)
    await spend(customer, 2_000n)
    await deliver(disputeEvent('funds_withdrawn', payment))
    expect(await balance()).toBe('0.00')
    const losses = await listAllPayments(app.db, { accountId: customer.accountId, onlyLosses: true })
    expect(losses.map(({ id, lost_cents }) => [id, lost_cents])).toEqual([[payment.paymentId, 2_000n]])
    await deliver(disputeEvent('funds_reinstated', payment))
    expect(await balance()).toBe('5.00')
    expect(await listAllPayments(app.db, { accountId: customer.accountId, onlyLosses: true })).toEqual([])
  })

  test('that is won is credited back once, even if Stripe reports it in two events', async () => {
    const { payment, balance } = await begun()
    await pay(payment)
    for (const type of ['funds_withdrawn', 'funds_withdrawn', 'funds_reinstated', 'funds_reinstated'] as const)
      await deliver(disputeEvent(type, payment))
    expect(await balance()).toBe('25.00')
  })

  test('of a foreign payment is ignored', async () => {
    const foreign = { paymentId: 'other', cents: 100, intent: 'pi_foreign' }
    expect(await deliver(refundEvent(foreign, 100, { metadata: false }))).toMatchObject(received)
    expect(await deliver(disputeEvent('funds_withdrawn', foreign))).toMatchObject(received)
    expect(await app.db.many(sql`select id from wallet_transactions where reference_id = 'other'`)).toEqual([])
  })
})

describe('POST /webhooks/stripe', () => {
  const payload = sessionEvent('completed', { paymentId: 'cnobody00', cents: 100 })
  const now = Math.floor(systemClock.now().getTime() / 1000)

  test.each([
    ['without a signature', payload, ''],
    ['with a signature that is none', payload, 't=1,v1=00'],
    ['signed with another secret', payload, sign(payload, { secret: 'whsec_other' })],
    ['signed more than five minutes ago', payload, sign(payload, { timestamp: now - 310 })],
    ['with other bytes than were signed', payload.replace('"amount_total": 100', '"amount_total": 9900'), sign(payload)],
  ])('rejects an event %s', async (_, bytes, signature) => {
    const { status, body } = await deliver(bytes, signature)
    expect([status, body.error]).toEqual([400, expect.stringContaining('signature')])
    expect(await app.db.many(sql`select id from payment_events where id = ${(JSON.parse(payload) as { id: string }).id}`)).toEqual([])
  })

  test('accepts events of unknown type', async () => {
    const other = JSON.stringify({
      id: 'evt_other',
      object: 'event',
      type: 'customer.created',
      data: { object: { id: 'cus_1', object: 'customer' } },
    })
    expect(await deliver(other)).toMatchObject(received)
    const foreign = payload.replace('berth_payment', 'another_shop')
    expect(await deliver(foreign)).toMatchObject(received)
  })

  test('rate-limits only requests with an invalid signature', async () => {
    for (let i = 0; i < 120; i++) await deliver(payload, sign(payload, { secret: 'whsec_other' }))
    expect((await deliver(payload, sign(payload, { secret: 'whsec_other' }))).status).toBe(429)
    expect((await deliver(payload)).status).toBe(200)
  })

  test.each(['done', 'cancelled'])('the return page /payments/%s loads no other resource', async (way) => {
    app.clock.advance('61s')
    const { statusCode, headers, body } = await app.app.inject(`/payments/${way}`)
    expect([statusCode, headers['content-security-policy']]).toEqual([200, expect.stringContaining("default-src 'none'")])
    expect(body).toContain('close this page')
  })
})
