import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { answer, halfBody, hang, receiver, reset, verified } from '../../../test/receiver.ts'
import { sampleEvent } from '../../../test/sample-event.ts'
import { webhookApp } from '../../../test/webhook-fixture.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import { recordEvent } from '../events/service.ts'

const app = await webhookApp({ outbound: { timeoutMs: 300 } })
const { subscribe, happen, deliver, webhookOf, deliveriesOf } = app

describe('delivery', () => {
  test('contains the event, with a signature that the standardwebhooks library accepts', async () => {
    const customer = await app.given.customer()
    const target = await receiver()
    const { secret } = await subscribe(customer, target.url)
    const event = await happen(customer, 'vm.started', { reason: 'Größe ☃' })
    await deliver()
    const [request] = target.received
    expect(verified(secret, request!)).toEqual({
      id: event.id,
      type: 'vm.started',
      timestamp: app.clock.now().toISOString(),
      data: event.data,
    })
    expect(request).toMatchObject({ path: '/hook', headers: { 'content-type': 'application/json' } })
    expect(() => verified(secret, { ...request!, body: request!.body.replace('☃', '!') })).toThrow('No matching signature')
  })

  test('is signed with the old secret too for a day after a rotation', async () => {
    const customer = await app.given.customer()
    const target = await receiver()
    const { id, secret: old } = await subscribe(customer, target.url)
    const { secret } = (await customer.post(`/webhooks/${id}/rotate-secret`)).body.data
    expect(secret).not.toBe(old)
    await happen(customer)
    await deliver()
    for (const each of [old, secret]) expect(verified(each, target.received[0]!)).toMatchObject({ type: 'vm.started' })
    app.clock.advance('24h')
    await happen(customer)
    await deliver()
    expect(target.received[1]!.headers['webhook-signature']!.split(' ')).toHaveLength(1)
  })

  test('is created for every active subscription of the account to that event type only', async () => {
    const [customer, stranger] = [await app.given.customer(), await app.given.customer()]
    const [wants, alsoWants, other, off, foreign] = await Promise.all([receiver(), receiver(), receiver(), receiver(), receiver()])
    await subscribe(customer, wants.url, ['vm.started', 'vm.stopped'])
    await subscribe(customer, alsoWants.url, ['vm.stopped'])
    await subscribe(customer, other.url, ['vm.started'])
    const { id } = await subscribe(customer, off.url, ['vm.stopped'])
    await customer.patch(`/webhooks/${id}`, { isActive: false })
    await subscribe(stranger, foreign.url, ['vm.stopped'])
    await happen(customer, 'vm.stopped')
    await happen(customer, 'vm.upgraded')
    await deliver()
    expect([wants, alsoWants, other, off, foreign].map(({ received }) => received.length)).toEqual([1, 1, 0, 0, 0])
  })

  test("is not created when the event's transaction rolls back", async () => {
    const customer = await app.given.customer()
    const target = await receiver()
    const { id } = await subscribe(customer, target.url)
    const rolledBack = app.db.tx(async (tx) => {
      await recordEvent(tx, app.deps, sampleEvent(customer.accountId))
      throw new Error('changed my mind')
    })
    await expect(rolledBack).rejects.toThrow('changed my mind')
    await deliver()
    expect(await deliveriesOf(customer, id)).toEqual([])
    expect(target.received).toEqual([])
  })

  test.each([
    ['takes 200', answer(200), 'SUCCEEDED', 200, null],
    ['takes 204', answer(204), 'SUCCEEDED', 204, null],
    ['tries again after 500', answer(500, {}, 'down'), 'PENDING', 500, expect.stringMatching(/answered 500/)],
    ['tries again after 404', answer(404), 'PENDING', 404, expect.stringMatching(/answered 404/)],
    [
      'tries again when nothing is answered in time',
      hang,
      'PENDING',
      null,
      expect.stringMatching(/no complete answer within 0\.3 seconds/),
    ],
    ['tries again when the connection breaks', reset, 'PENDING', null, expect.stringMatching(/closed before the answer was complete/)],
    [
      'tries again when only half of the answer arrives',
      halfBody,
      'PENDING',
      200,
      expect.stringMatching(/closed before the answer was complete/),
    ],
  ] as const)('%s', async (_, behave, status, responseStatus, error) => {
    const customer = await app.given.customer()
    const target = await receiver(behave)
    const { id } = await subscribe(customer, target.url)
    await happen(customer)
    await deliver()
    expect(await deliveriesOf(customer, id)).toMatchObject([{ status, responseStatus, attempts: 1, error, latencyMs: expect.any(Number) }])
    expect(await webhookOf(customer, id)).toMatchObject({ failCount: status === 'PENDING' ? 1 : 0, isActive: true })
  })

  test('retries after a redirect without following it', async () => {
    const customer = await app.given.customer()
    const elsewhere = await receiver()
    const target = await receiver(answer(307, { location: elsewhere.url }))
    const { id } = await subscribe(customer, target.url)
    await happen(customer)
    await deliver()
    expect(await deliveriesOf(customer, id)).toMatchObject([
      { status: 'PENDING', error: expect.stringContaining('redirects are not followed') },
    ])
    expect([target.received.length, elsewhere.received.length]).toEqual([1, 0])
  })

  test('retries after a refused connection', async () => {
    const customer = await app.given.customer()
    const { id } = await subscribe(customer, 'http://127.0.0.1:1/')
    await happen(customer)
    await deliver()
    expect(await deliveriesOf(customer, id)).toMatchObject([{ status: 'PENDING', error: 'the connection was refused (ECONNREFUSED)' }])
  })
})

describe('retry schedule', () => {
  const nextAttempt = async (customer: Parameters<typeof deliveriesOf>[0], id: string): Promise<Date | null> => {
    const [delivery] = await deliveriesOf(customer, id)
    return delivery.nextAttemptAt && new Date(delivery.nextAttemptAt as string)
  }

  test('has eight attempts over 27 hours, all with one id and a fresh signature', async () => {
    const customer = await app.given.customer()
    const target = await receiver(answer(503))
    const { id, secret } = await subscribe(customer, target.url)
    await happen(customer)
    const waits: number[] = []
    await deliver()
    for (let next = await nextAttempt(customer, id); next; next = await nextAttempt(customer, id)) {
      waits.push(next.getTime() - app.clock.now().getTime())
      app.clock.set(new Date(next.getTime() - 1))
      await deliver()
      expect(target.received).toHaveLength(waits.length)
      app.clock.set(next)
      await deliver()
    }
    const wanted = ['5s', '5m', '30m', '2h', '5h', '10h', '10h'].map(parseDurationMs)
    expect(waits).toHaveLength(wanted.length)
    waits.forEach((wait, i) => {
      expect(wait).toBeGreaterThanOrEqual(wanted[i]! * 0.8)
      expect(wait).toBeLessThanOrEqual(wanted[i]! * 1.2)
    })
    expect(await deliveriesOf(customer, id)).toMatchObject([{ status: 'EXHAUSTED', attempts: 8, nextAttemptAt: null }])
    expect(new Set(target.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(target.received.map(({ body }) => body)).size).toBe(1)
    for (const { headers, body } of target.received) {
      const at = new Date(Number(headers['webhook-timestamp']) * 1000)
      expect(Math.abs(Date.now() - at.getTime())).toBeLessThan(60_000) // real time, independent of the test clock
      expect(headers['webhook-signature']).toBe(new Webhook(secret).sign(headers['webhook-id']!, at, body))
    }
    expect(await webhookOf(customer, id)).toMatchObject({ failCount: 8, isActive: true })
  })

  test('adds jitter to deliveries that failed together', async () => {
    const customer = await app.given.customer()
    const target = await receiver(answer(500))
    const { id } = await subscribe(customer, target.url)
    for (let i = 0; i < 5; i++) await happen(customer)
    await deliver()
    const times = (await deliveriesOf(customer, id)).map((each: { nextAttemptAt: string }) => each.nextAttemptAt)
    expect(new Set(times).size).toBeGreaterThan(1)
    target.answers(answer(200))
    app.clock.advance('6s')
    await deliver()
  })

  test.each([
    ['a longer Retry-After in seconds', () => '3600', '1h'],
    ['a longer Retry-After as a date', () => new Date(app.clock.now().getTime() + 7_200_000).toUTCString(), '2h'],
    ['at most a day of it', () => '999999999', '24h'],
  ])('honours %s', async (_, retryAfter, wait) => {
    const customer = await app.given.customer()
    app.clock.set(new Date(Math.ceil(app.clock.now().getTime() / 1000) * 1000))
    const target = await receiver(answer(429, { 'retry-after': retryAfter() }))
    const { id } = await subscribe(customer, target.url)
    await happen(customer)
    await deliver()
    expect((await nextAttempt(customer, id))!.getTime() - app.clock.now().getTime()).toBe(parseDurationMs(wait))
  })

  test.each(['1', 'soon', '-5', 'Thu, 01 Jan 1970 00:00:00 GMT'])('is not shortened by Retry-After: %s', async (retryAfter) => {
    const customer = await app.given.customer()
    const target = await receiver(answer(503, { 'retry-after': retryAfter }))
    const { id } = await subscribe(customer, target.url)
    await happen(customer)
    await deliver()
    expect((await nextAttempt(customer, id))!.getTime() - app.clock.now().getTime()).toBeGreaterThanOrEqual(4_000)
  })
})
