import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sampleEvent } from '../../../test/sample-event.ts'
import type { EventType } from './schema.ts'
import { recordEvent } from './service.ts'

const app = await testApp()
const happen = (accountId: string, type: EventType = 'vm.started') =>
  app.db.tx((tx) => recordEvent(tx, app.deps, sampleEvent(accountId, type)))

describe('GET /events', () => {
  test('returns all events, oldest first', async () => {
    const customer = await app.given.customer()
    const event = await happen(customer.accountId, 'vm.started')
    await happen(customer.accountId, 'vm.upgraded')
    const { status, body } = await customer.get('/events')
    expect(status).toBe(200)
    expect(body.data).toEqual([
      {
        id: event.id,
        cursor: '1',
        type: 'vm.started',
        timestamp: app.clock.now().toISOString(),
        data: event.data,
      },
      expect.objectContaining({ cursor: '2', type: 'vm.upgraded' }),
    ])
  })

  test('continues from a cursor, page by page, to the end', async () => {
    const customer = await app.given.customer()
    for (let i = 0; i < 25; i++) await happen(customer.accountId)
    const seen: string[] = []
    for (let after = '0'; ;) {
      const { data } = (await customer.get(`/events?after=${after}&limit=10`)).body
      if (data.length === 0) break
      seen.push(...data.map((each: { cursor: string }) => each.cursor))
      after = data.at(-1).cursor
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => String(i + 1)))
    expect((await customer.get('/events')).body.data).toHaveLength(20)
    expect((await customer.get('/events?after=999999999999999999')).body.data).toEqual([])
  })

  test('lists only events of what a labelSelector selects, by the labels of that time', async () => {
    const customer = await app.given.customer()
    const labelled = (type: 'vm.started' | 'volume.created', labels: Record<string, string>) => {
      const { data } = sampleEvent(customer.accountId, type) as { data: { vm?: object; volume?: object } }
      const resource = data.vm ? { vm: { ...data.vm, labels } } : { volume: { ...data.volume, labels } }
      return app.db.tx((tx) =>
        recordEvent(tx, app.deps, { accountId: customer.accountId, type, data: { ...data, ...resource } } as Parameters<
          typeof recordEvent
        >[2]),
      )
    }
    await labelled('vm.started', { env: 'prod' })
    await labelled('volume.created', { env: 'test' })
    await happen(customer.accountId, 'ticket.reply')
    await labelled('vm.started', { env: 'prod', tier: 'web' })
    const listed = async (query: string) =>
      (await customer.get(`/events?${query}`)).body.data.map((each: { cursor: string }) => each.cursor) as string[]
    expect(await listed('labelSelector=env%3Dprod')).toEqual(['1', '4'])
    expect(await listed('labelSelector=env%3Dprod&after=1&limit=1')).toEqual(['4'])
    expect(await listed('labelSelector=env!%3Dprod')).toEqual(['2', '3'])
    expect(await listed('labelSelector=!env')).toEqual(['3'])
    const { status, body } = await customer.get('/events?labelSelector=env%20is%20prod')
    expect([status, body.error]).toEqual([400, expect.stringContaining('"env is prod" is not understood')])
  })

  test('shows an account its own events only', async () => {
    const [customer, stranger] = [await app.given.customer(), await app.given.customer()]
    await happen(stranger.accountId, 'vm.started')
    expect((await customer.get('/events')).body.data).toEqual([])
  })

  test.each([
    ['after=-1', 'after must be the cursor of an event'],
    ['after=abc', 'after must be the cursor of an event'],
    ['after=1234567890123456789', 'after must be the cursor of an event'],
    ['limit=0', 'limit must be at least 1'],
    ['limit=101', 'limit must be at most 100'],
  ])('refuses %s', async (query, sentence) => {
    const customer = await app.given.customer()
    const { status, body } = await customer.get(`/events?${query}`)
    expect([status, body.error]).toEqual([400, `Validation failed: ${sentence}`])
  })

  test('numbers the events of an account without gaps under concurrency', async () => {
    const customer = await app.given.customer()
    await Promise.all(Array.from({ length: 40 }, () => happen(customer.accountId, 'vm.started')))
    const { data } = (await customer.get('/events?limit=100')).body
    expect(data.map((each: { cursor: string }) => each.cursor)).toEqual(Array.from({ length: 40 }, (_, i) => String(i + 1)))
  })
})
