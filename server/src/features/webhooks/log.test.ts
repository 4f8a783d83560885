import { describe, expect, test } from 'vitest'
import { answer, hang, receiver, verified } from '../../../test/receiver.ts'
import { webhookApp } from '../../../test/webhook-fixture.ts'
import { sql } from '../../kernel/database/db.ts'

const SOON = { timeout: 10_000 }

const app = await webhookApp({ outbound: { timeoutMs: 1_000 } })
const { subscribe, happen, deliver, webhookOf, deliveriesOf } = app

describe('POST /webhooks/{id}/test', () => {
  test('sends a signed test event synchronously and reports its acceptance', async () => {
    const customer = await app.given.customer()
    const target = await receiver(answer(202))
    const { id, secret } = await subscribe(customer, target.url)
    const { status, body } = await customer.post(`/webhooks/${id}/test`)
    expect([status, body.data]).toEqual([
      200,
      { message: expect.stringMatching(/^The test event was delivered: the receiver answered 202 after \d+ ms$/) },
    ])
    expect(verified(secret, target.received[0]!)).toMatchObject({ type: 'webhook.test', data: { webhookId: id } })
    expect(await deliveriesOf(customer, id)).toMatchObject([{ type: 'webhook.test', eventId: null, status: 'SUCCEEDED' }])
  })

  test.each([
    ['answers 500', answer(500), 'The test event was not delivered: the receiver answered 500: only 2xx means delivered'],
    ['answers 410', answer(410), 'The test event was not delivered: the receiver answered 410: it wants no more events'],
    ['does not answer', hang, 'The test event was not delivered: no complete answer within 1 seconds'],
  ])('reports that the receiver %s, without changing its failure count', async (_, behave, message) => {
    const customer = await app.given.customer()
    const target = await receiver(behave)
    const { id } = await subscribe(customer, target.url)
    const before = await webhookOf(customer, id)
    expect((await customer.post(`/webhooks/${id}/test`)).body.data).toEqual({ message })
    expect(await webhookOf(customer, id)).toEqual(before)
    app.clock.advance('1d')
    await deliver()
    expect(target.received).toHaveLength(1)
  })

  test('works for a disabled webhook', async () => {
    const customer = await app.given.customer()
    const target = await receiver()
    const { id } = await subscribe(customer, target.url)
    await customer.patch(`/webhooks/${id}`, { isActive: false })
    expect((await customer.post(`/webhooks/${id}/test`)).body.data.message).toMatch(/^The test event was delivered/)
  })

  test('is limited to five a minute for a webhook and ten for an account', async () => {
    const customer = await app.given.customer()
    const target = await receiver()
    const hooks = [await subscribe(customer, target.url), await subscribe(customer, target.url), await subscribe(customer, target.url)]
    const statuses: number[][] = []
    for (const { id } of hooks) {
      statuses.push([])
      for (let n = 0; n < 6; n++) statuses.at(-1)!.push((await customer.post(`/webhooks/${id}/test`)).status)
    }
    const five = [200, 200, 200, 200, 200]
    expect(statuses).toEqual([[...five, 429], [...five, 429], Array(6).fill(429)])
    const { body, headers } = await customer.post(`/webhooks/${hooks[0]!.id}/test`)
    expect([headers['x-error-code'], headers['retry-after'], body.error]).toEqual([
      'rate_limited',
      '60',
      'Too many test events: at most 5 a minute for a webhook and 10 for an account',
    ])
    expect(target.received).toHaveLength(10)
    app.clock.advance('61s')
    expect((await customer.post(`/webhooks/${hooks[2]!.id}/test`)).status).toBe(200)
  })

  test('is sent one at a time', async () => {
    const customer = await app.given.customer()
    const answers: (() => void)[] = []
    const target = await receiver((response) => void answers.push(() => response.writeHead(200).end()))
    const { id } = await subscribe(customer, target.url)
    const first = customer.post(`/webhooks/${id}/test`)
    await expect.poll(() => answers.length, SOON).toBe(1)
    const second = await customer.post(`/webhooks/${id}/test`)
    expect([second.status, second.headers['retry-after']]).toEqual([429, '15'])
    answers.forEach((each) => each())
    expect((await first).status).toBe(200)
    const third = customer.post(`/webhooks/${id}/test`)
    await expect.poll(() => answers.length, SOON).toBe(2)
    answers[1]!()
    expect((await third).status).toBe(200)
  })

  test('is sent once per Idempotency-Key, and rejected while the first is in flight', async () => {
    const customer = await app.given.customer()
    const answers: (() => void)[] = []
    const target = await receiver((response) => void answers.push(() => response.writeHead(200).end()))
    const { id } = await subscribe(customer, target.url)
    const send = () => customer.post(`/webhooks/${id}/test`, undefined, { 'idempotency-key': 'one-test' })
    const first = send()
    await expect.poll(() => answers.length, SOON).toBe(1)
    expect(await send()).toMatchObject({ status: 409, headers: { 'x-error-code': 'idempotency_in_progress' } })
    answers.forEach((each) => each())
    const { body } = await first
    expect(await send()).toMatchObject({ status: 200, body, headers: { 'idempotent-replayed': 'true' } })
    expect(target.received).toHaveLength(1)
  })

  test('holds no lock: the webhook can be changed concurrently', async () => {
    const customer = await app.given.customer()
    const target = await receiver(hang)
    const { id } = await subscribe(customer, target.url)
    const result = customer.post(`/webhooks/${id}/test`)
    await expect.poll(() => target.received.length, SOON).toBe(1)
    expect((await customer.patch(`/webhooks/${id}`, { description: 'changed' })).status).toBe(200)
    expect((await result).body.data.message).toMatch(/not delivered/)
  })
})

describe('delivery log', () => {
  test('shows every attempt with request, response and latency', async () => {
    const customer = await app.given.customer()
    const target = await receiver((response, _, count) => response.writeHead(count === 0 ? 500 : 200).end(count === 0 ? 'no\0 way' : ''))
    const { id } = await subscribe(customer, target.url)
    const event = await happen(customer)
    await deliver()
    app.clock.advance('6s')
    await deliver()
    const [delivery] = await deliveriesOf(customer, id)
    expect(delivery).toMatchObject({
      eventId: event.id,
      type: 'vm.started',
      status: 'SUCCEEDED',
      attempts: 2,
      responseStatus: 200,
      error: null,
    })
    const { data } = (await customer.get(`/webhooks/${id}/deliveries/${delivery.id}`)).body
    expect(data).toMatchObject({ ...delivery, requestBody: target.received[0]!.body })
    expect(data.log).toMatchObject([
      {
        url: target.url,
        responseStatus: 500,
        responseBody: 'no way',
        error: expect.stringContaining('500'),
        latencyMs: expect.any(Number),
      },
      { url: target.url, responseStatus: 200, responseBody: '', error: null },
    ])
    target.received.forEach(({ headers }, i) => expect(headers).toMatchObject(data.log[i].requestHeaders))
  })

  test('filters by status and paginates, newest first', async () => {
    const customer = await app.given.customer()
    const target = await receiver((response, _, count) => response.writeHead(count < 2 ? 500 : 200).end())
    const { id } = await subscribe(customer, target.url)
    for (let i = 0; i < 5; i++) {
      await happen(customer)
      await deliver()
    }
    expect(await deliveriesOf(customer, id, '?status=SUCCEEDED')).toHaveLength(3)
    const { body } = await customer.get(`/webhooks/${id}/deliveries?limit=2&page=2`)
    expect(body.pagination).toEqual({ page: 2, limit: 2, total: 5, totalPages: 3 })
    expect((await customer.get(`/webhooks/${id}/deliveries?status=LOST`)).status).toBe(400)
    app.clock.advance('6s')
    await deliver()
  })

  test('shows the newest 50 attempts, oldest first, and a redelivery leaves room for its own', async () => {
    const customer = await app.given.customer()
    const { id } = await subscribe(customer, (await receiver()).url)
    await happen(customer)
    await deliver()
    const [{ id: deliveryId }] = await deliveriesOf(customer, id)
    await app.db.run(sql`
      insert into webhook_attempts (delivery_id, number, url, signature, status, response, latency_ms, attempted_at)
      select delivery_id, n, url, signature, 500 + n, response, latency_ms, attempted_at from webhook_attempts, generate_series(2, 60) n
      where delivery_id = ${deliveryId}`)
    await app.db.run(sql`update webhook_deliveries set claims = 60 where id = ${deliveryId}`)
    const log = async (): Promise<number[]> =>
      (await customer.get(`/webhooks/${id}/deliveries/${deliveryId}`)).body.data.log.map(
        (each: { responseStatus: number }) => each.responseStatus,
      )
    expect(await log()).toEqual(Array.from({ length: 50 }, (_, i) => 511 + i))
    expect((await customer.post(`/webhooks/${id}/deliveries/${deliveryId}/redeliver`)).status).toBe(200)
    await deliver()
    expect(await log()).toEqual([...Array.from({ length: 42 }, (_, i) => 519 + i), 200])
    expect(await app.db.many(sql`select from webhook_attempts where delivery_id = ${deliveryId}`)).toHaveLength(43)
  })
})

describe('POST /webhooks/{id}/deliveries/{deliveryId}/redeliver', () => {
  test('sends the same message with the same id and a new retry schedule', async () => {
    const customer = await app.given.customer()
    const target = await receiver()
    const { id } = await subscribe(customer, target.url)
    await happen(customer)
    await deliver()
    const [{ id: deliveryId }] = await deliveriesOf(customer, id)
    target.answers(answer(500))
    const { status, body } = await customer.post(`/webhooks/${id}/deliveries/${deliveryId}/redeliver`)
    expect([status, body.data]).toMatchObject([200, { id: deliveryId, status: 'PENDING', attempts: 0 }])
    await deliver()
    expect(target.received[1]).toMatchObject({ body: target.received[0]!.body, headers: { 'webhook-id': deliveryId } })
    expect(await deliveriesOf(customer, id)).toMatchObject([{ status: 'PENDING', attempts: 1 }])
    target.answers(answer(200))
    app.clock.advance('6s')
    await deliver()
    const { data } = (await customer.get(`/webhooks/${id}/deliveries/${deliveryId}`)).body
    expect([data.status, data.log.length]).toEqual(['SUCCEEDED', 3])
  })

  test('is rejected while the webhook is disabled', async () => {
    const customer = await app.given.customer()
    const { id } = await subscribe(customer, (await receiver()).url)
    await happen(customer)
    await deliver()
    await customer.patch(`/webhooks/${id}`, { isActive: false })
    const [{ id: deliveryId }] = await deliveriesOf(customer, id)
    expect(await customer.post(`/webhooks/${id}/deliveries/${deliveryId}/redeliver`)).toMatchObject({
      status: 409,
      headers: { 'x-error-code': 'invalid_state' },
      body: { error: 'The webhook is switched off: set isActive to true first' },
    })
  })

  test('is rejected while the delivery is still being attempted', async () => {
    const customer = await app.given.customer()
    const target = await receiver(answer(500))
    const { id } = await subscribe(customer, target.url)
    await happen(customer)
    await deliver()
    const [delivery] = await deliveriesOf(customer, id)
    expect(await customer.post(`/webhooks/${id}/deliveries/${delivery.id}/redeliver`)).toMatchObject({
      status: 409,
      headers: { 'x-error-code': 'invalid_state' },
      body: { error: 'This delivery is PENDING and is attempted by itself: see nextAttemptAt' },
    })
    expect(await deliveriesOf(customer, id)).toEqual([delivery])
    await deliver()
    expect(target.received).toHaveLength(1)
    await customer.delete(`/webhooks/${id}`)
  })

  test('is limited to ten a minute for an account, test events included', async () => {
    const customer = await app.given.customer()
    const target = await receiver()
    const { id } = await subscribe(customer, target.url)
    await happen(customer)
    await deliver()
    const [{ id: deliveryId }] = await deliveriesOf(customer, id)
    const redeliver = () => customer.post(`/webhooks/${id}/deliveries/${deliveryId}/redeliver`)
    expect((await customer.post(`/webhooks/${id}/test`)).status).toBe(200)
    const statuses: number[] = []
    for (let n = 0; n < 10; n++) {
      statuses.push((await redeliver()).status)
      await deliver()
    }
    expect(statuses).toEqual([...Array<number>(9).fill(200), 429])
    const { body, headers } = await redeliver()
    expect([headers['x-error-code'], headers['retry-after'], body.error]).toEqual([
      'rate_limited',
      '60',
      'Too many test events and redeliveries: at most 10 a minute for an account',
    ])
    expect(target.received).toHaveLength(11)
    app.clock.advance('61s')
    expect((await redeliver()).status).toBe(200)
    await deliver()
  })

  test('is rejected for a test event', async () => {
    const customer = await app.given.customer()
    const { id } = await subscribe(customer, (await receiver()).url)
    await customer.post(`/webhooks/${id}/test`)
    const [{ id: deliveryId }] = await deliveriesOf(customer, id)
    expect((await customer.post(`/webhooks/${id}/deliveries/${deliveryId}/redeliver`)).status).toBe(409)
    expect((await customer.get(`/webhooks/${id}/deliveries/${deliveryId}`)).body.data.requestBody).toContain('"type":"webhook.test"')
  })

  test('answers 404 under another webhook', async () => {
    const customer = await app.given.customer()
    const [one, two] = [
      await subscribe(customer, (await receiver()).url),
      await subscribe(customer, (await receiver()).url, ['vm.stopped']),
    ]
    await happen(customer)
    await deliver()
    const [{ id: deliveryId }] = await deliveriesOf(customer, one.id)
    expect((await customer.post(`/webhooks/${two.id}/deliveries/${deliveryId}/redeliver`)).status).toBe(404)
  })
})
