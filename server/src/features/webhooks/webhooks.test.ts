import { describe, expect, test } from 'vitest'
import { receiver } from '../../../test/receiver.ts'
import { webhookApp } from '../../../test/webhook-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import type { EventType } from '../events/schema.ts'
import { eventCatalog } from '../index.ts'
import { sampleEvent } from '../../../test/sample-event.ts'

const app = await webhookApp()
const { subscribe, happen, deliver, deliveriesOf } = app
const URL = 'https://hooks.example.com/berth'
const SPECIFIED = [
  'vm.created',
  'vm.started',
  'vm.stopped',
  'vm.restarted',
  'vm.suspended',
  'vm.terminated',
  'vm.renewed',
  'billing.payment_received',
  'billing.low_balance',
  'ticket.reply',
]
const countOf = (answers: { status: number }[], status: number): number => answers.filter((each) => each.status === status).length

describe('POST /webhooks', () => {
  test('returns the subscription with its secret, which no other operation returns', async () => {
    const customer = await app.given.customer()
    const { status, body } = await customer.post('/webhooks', { url: URL, events: ['vm.created'], description: 'CI' })
    expect(status).toBe(201)
    expect(body.data).toEqual({
      id: expect.stringMatching(/^c[0-9a-z]{24}$/),
      url: URL,
      events: ['vm.created'],
      isActive: true,
      description: 'CI',
      labels: {},
      labelSelector: null,
      failCount: 0,
      disabledReason: null,
      lastSuccessAt: null,
      createdAt: app.clock.now().toISOString(),
      updatedAt: app.clock.now().toISOString(),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    })
    const { secret: _, ...shown } = body.data
    expect((await customer.get(`/webhooks/${body.data.id}`)).body.data).toEqual(shown)
    expect((await customer.get('/webhooks')).body.data).toEqual([shown])
    expect((await customer.patch(`/webhooks/${body.data.id}`, {})).body.data).toEqual(shown)
  })

  test('accepts the ten event types of the specification, deduplicated, and defaults the description to empty', async () => {
    const customer = await app.given.customer()
    const { status, body } = await customer.post('/webhooks', { url: URL, events: [...SPECIFIED, 'vm.created', 'vm.created'] })
    expect([status, body.data.events, body.data.description]).toEqual([201, SPECIFIED, ''])
  })

  test('accepts every event type of the log, and delivers each', async () => {
    const customer = await app.given.customer()
    const target = await receiver()
    const types = Object.keys(eventCatalog) as EventType[]
    expect(types).toEqual(expect.arrayContaining(['vm.upgraded', 'vm.error', 'backup.failed', 'bandwidth.throttled', 'webhook.disabled']))
    await subscribe(customer, target.url, types)
    for (const type of types) await happen(customer, type)
    await deliver()
    const delivered = target.received.map(({ body }) => (JSON.parse(body) as { type: string }).type)
    expect(delivered.toSorted()).toEqual(types.toSorted())
  })

  test.each([
    ['no url', { events: ['vm.created'] }, /url is required/],
    ['a url that is none', { url: 'not a url', events: ['vm.created'] }, /url must be a valid URI/],
    ['a relative url', { url: '/hook', events: ['vm.created'] }, /url must be a valid URI/],
    ['a url of 2049 characters', { url: `${URL}/`.padEnd(2049, 'x'), events: ['vm.created'] }, /url must be a valid URI/],
    ['no events', { url: URL }, /events is required/],
    ['an empty list of events', { url: URL, events: [] }, /events must hold at least 1 item/],
    ['an unknown event', { url: URL, events: ['vm.exploded'] }, /events\.0 must be one of vm\.created, /],
    ['the test event', { url: URL, events: ['webhook.test'] }, /events\.0 must be one of vm\.created, /],
    ['a description of 201 characters', { url: URL, events: ['vm.created'], description: 'x'.repeat(201) }, /description must be 0-200/],
    ['an unknown field', { url: URL, events: ['vm.created'], secret: 'mine' }, /secret is not a known field/],
  ])('rejects %s', async (_, input, sentence) => {
    const customer = await app.given.customer()
    const { status, headers, body } = await customer.post('/webhooks', input)
    expect([status, headers['x-error-code'], body.error]).toEqual([400, 'validation_failed', expect.stringMatching(sentence)])
  })

  test('rejects the 21st under concurrency, and accepts one again after a deletion', async () => {
    const customer = await app.given.customer()
    const answers = await Promise.all(Array.from({ length: 25 }, () => customer.post('/webhooks', { url: URL, events: ['vm.created'] })))
    expect([countOf(answers, 201), countOf(answers, 422)]).toEqual([20, 5])
    expect(answers.find((each) => each.status === 422)!.headers['x-error-code']).toBe('quota_exceeded')
    await customer.delete(`/webhooks/${answers.find((each) => each.status === 201)!.body.data.id}`)
    expect((await customer.post('/webhooks', { url: URL, events: ['vm.created'] })).status).toBe(201)
  })

  test('returns the same secret for a repeated Idempotency-Key', async () => {
    const customer = await app.given.customer()
    const [first, again] = [
      await customer.post('/webhooks', { url: URL, events: ['vm.created'] }, { 'idempotency-key': 'once' }),
      await customer.post('/webhooks', { url: URL, events: ['vm.created'] }, { 'idempotency-key': 'once' }),
    ]
    expect([again.status, again.body, again.headers['idempotent-replayed']]).toEqual([201, first.body, 'true'])
    expect((await customer.get('/webhooks')).body.pagination.total).toBe(1)
  })
})

describe('GET /webhooks', () => {
  test('lists newest first and paginates', async () => {
    const customer = await app.given.customer()
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift((await subscribe(customer, URL)).id)
    const { body } = await customer.get('/webhooks?page=2&limit=2')
    expect(body.data.map((each: { id: string }) => each.id)).toEqual(ids.slice(2, 4))
    expect(body.pagination).toEqual({ page: 2, limit: 2, total: 5, totalPages: 3 })
  })
})

describe('PATCH /webhooks/{id}', () => {
  test('changes the given fields only', async () => {
    const customer = await app.given.customer()
    const { id } = await subscribe(customer, URL)
    app.clock.advance('1s')
    const url = 'https://other.example.com/'
    const { body } = await customer.patch(`/webhooks/${id}`, { url, description: 'new' })
    expect(body.data).toMatchObject({ url, events: ['vm.started'], description: 'new', updatedAt: app.clock.now().toISOString() })
    expect((await customer.patch(`/webhooks/${id}`, { events: ['vm.stopped', 'vm.stopped'] })).body.data.events).toEqual(['vm.stopped'])
  })

  test('sends pending deliveries to the new URL', async () => {
    const customer = await app.given.customer()
    const target = await receiver()
    const { id } = await subscribe(customer, 'http://127.0.0.1:1/')
    await happen(customer)
    await deliver()
    await customer.patch(`/webhooks/${id}`, { url: target.url })
    app.clock.advance('6s')
    await deliver()
    expect(target.received).toHaveLength(1)
  })
})

describe('DELETE /webhooks/{id}', () => {
  test('returns the id, and the subscription is neither listed nor called any more', async () => {
    const customer = await app.given.customer()
    const target = await receiver((response) => response.writeHead(500).end())
    const { id } = await subscribe(customer, target.url)
    await happen(customer)
    await deliver()
    const { status, body } = await customer.delete(`/webhooks/${id}`)
    expect([status, body.data]).toEqual([200, { id }])
    for (const path of [`/webhooks/${id}`, `/webhooks/${id}/deliveries`])
      expect(await customer.get(path)).toMatchObject({ status: 404, body: { error: 'Webhook not found' } })
    expect((await customer.delete(`/webhooks/${id}`)).status).toBe(404)
    await happen(customer)
    app.clock.advance('1m')
    await deliver()
    expect(target.received).toHaveLength(1)
  })
})

describe('secrets', () => {
  test('are in no table, neither as text nor as bytes', async () => {
    const customer = await app.given.customer()
    const { id, secret } = await subscribe(customer, (await receiver()).url)
    const { secret: rotated } = (await customer.post(`/webhooks/${id}/rotate-secret`, {}, { 'idempotency-key': 'rotate' })).body.data
    await happen(customer)
    await deliver()
    await customer.post(`/webhooks/${id}/test`)
    const tables = await app.db.many<{ name: string }>(sql`
      select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`)
    const forms = [secret, rotated].flatMap((each) => [
      each,
      each.slice(6),
      Buffer.from(each).toString('hex'),
      Buffer.from(each.slice(6), 'base64').toString('hex'),
    ])
    for (const { name } of tables) {
      const { rows } = await app.db.raw(
        `select 1 from ${name} t where exists (select 1 from unnest($1::text[]) f where strpos(t::text, f) > 0)`,
        [forms],
      )
      expect([name, rows]).toEqual([name, []])
    }
    expect(await deliveriesOf(customer, id)).toHaveLength(2)
  })
})

describe('a webhook with a labelSelector', () => {
  const labelled = (type: 'vm.started' | 'volume.created', labels: Record<string, string>) => {
    const data = sampleEvent('', type).data as { vm?: object; volume?: object }
    return data.vm ? { vm: { ...data.vm, labels } } : { volume: { ...data.volume, labels } }
  }

  test('is told of events of what the selector selects, as the event shows its labels', async () => {
    const customer = await app.given.customer()
    const { url } = await receiver()
    const events = ['vm.started', 'volume.created', 'ticket.reply']
    const withSelector = async (labelSelector: string | null) =>
      (await customer.post('/webhooks', { url, events, labelSelector })).body.data.id as string
    const [prod, notProd, few, all] = [
      await withSelector('env=prod,tier in (web,db)'),
      await withSelector('env!=prod'),
      await withSelector('!env'),
      await withSelector(null),
    ]
    await happen(customer, 'vm.started', labelled('vm.started', { env: 'prod', tier: 'web' }))
    await happen(customer, 'vm.started', labelled('vm.started', { env: 'prod' }))
    await happen(customer, 'volume.created', labelled('volume.created', { env: 'test' }))
    await happen(customer, 'ticket.reply')
    const told = async (id: string) => (await deliveriesOf(customer, id)).map(({ type }: { type: string }) => type)
    expect(await told(prod)).toEqual(['vm.started'])
    expect(await told(notProd)).toEqual(['ticket.reply', 'volume.created'])
    expect(await told(few)).toEqual(['ticket.reply'])
    expect(await told(all)).toEqual(['ticket.reply', 'volume.created', 'vm.started', 'vm.started'])
  })

  test('can be given another one, or none', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/webhooks', { url: URL, events: ['vm.started'], labelSelector: 'env=prod' })).body.data
    const change = async (labelSelector: unknown) => (await customer.patch(`/webhooks/${id}`, { labelSelector })).body
    expect((await change('env=test')).data).toMatchObject({ labelSelector: 'env=test' })
    expect((await customer.patch(`/webhooks/${id}`, { description: 'x' })).body.data).toMatchObject({ labelSelector: 'env=test' })
    expect((await change('env is test')).error).toMatch(/"env is test" is not understood/)
    await happen(customer, 'vm.started', labelled('vm.started', { env: 'prod' }))
    expect(await deliveriesOf(customer, id)).toEqual([])
    expect((await change(null)).data).toMatchObject({ labelSelector: null })
    await happen(customer, 'vm.started', labelled('vm.started', { env: 'prod' }))
    expect(await deliveriesOf(customer, id)).toHaveLength(1)
  })
})
