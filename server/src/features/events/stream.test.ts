import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { openApi, PUBLIC_PREFIX } from '../../compose.ts'
import { testApp } from '../../../test/harness.ts'
import { revokeToken } from '../accounts/service.ts'
import { openEventFeed } from './feed.ts'
import { sampleEvent } from '../../../test/sample-event.ts'
import type { EventType } from './schema.ts'
import { recordEvent } from './service.ts'

const SOON = { timeout: 10_000 }

const app = await testApp()
await app.app.listen({ host: '127.0.0.1', port: 0 })
const happen = (accountId: string, type?: EventType) => app.db.tx((tx) => recordEvent(tx, app.deps, sampleEvent(accountId, type)))

interface Frame {
  id: string
  event: string
  data: { cursor: string; type: string; data: object }
}

interface Stream {
  response: IncomingMessage
  text(): string
  events(): Frame[]
  cut(): void
}

const open: Stream[] = []
afterAll(() => open.forEach((stream) => stream.cut()))

async function follow(
  token: string,
  options: { query?: string; headers?: Record<string, string>; server?: typeof app.app } = {},
): Promise<Stream> {
  const { port } = (options.server ?? app.app).server.address() as AddressInfo
  const headers = { 'x-api-key': token, accept: 'text/event-stream', ...options.headers }
  const request = get({ host: '127.0.0.1', port, path: `${PUBLIC_PREFIX}/events${options.query ?? ''}`, headers })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  response.on('data', (chunk: Buffer) => (text += chunk.toString()))
  response.on('error', () => {}) // the test aborts the request
  const stream = { response, text: () => text, events: () => framesOf(text), cut: () => void request.destroy() }
  open.push(stream)
  return stream
}

const framesOf = (text: string): Frame[] =>
  text
    .split('\n\n')
    .slice(0, -1) // the part after the last empty line is incomplete
    .filter((frame) => frame.startsWith('id: '))
    .map((frame) => Object.fromEntries(frame.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2))) as Record<keyof Frame, string>)
    .map(({ id, event, data }) => ({ id, event, data: JSON.parse(data) as Frame['data'] }))

const cursors = (stream: Stream): string[] => stream.events().map(({ id }) => id)
const numbers = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => String(from + i))

describe('GET /events as a stream', () => {
  test('sends new events in the format of the list', async () => {
    const customer = await app.given.customer()
    await happen(customer.accountId)
    const stream = await follow(customer.token)
    expect(stream.response.statusCode).toBe(200)
    expect(stream.response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    expect(stream.response.headers).toHaveProperty('x-ratelimit-remaining')
    await expect.poll(stream.text, SOON).toBe('retry: 2000\nid: 1\n\n')
    await happen(customer.accountId, 'vm.started')
    await expect.poll(stream.events, SOON).toHaveLength(1)
    const [listed] = (await customer.get('/events?after=1')).body.data
    expect(stream.events()).toEqual([{ id: '2', event: 'vm.started', data: listed }])
  })

  test('starts after the given cursor', async () => {
    const customer = await app.given.customer()
    for (let i = 0; i < 250; i++) await happen(customer.accountId)
    const stream = await follow(customer.token, { query: '?after=0' })
    await expect.poll(() => cursors(stream), SOON).toEqual(numbers(1, 250))
  })

  test('resumes after a disconnect without loss or duplicates', async () => {
    const customer = await app.given.customer()
    const seen: string[] = []
    let happened = 0
    const storm = (async () => {
      while (happened++ < 120) await happen(customer.accountId)
    })()
    while (seen.length < 120) {
      const headers = { 'last-event-id': seen.at(-1) ?? '0' }
      const stream = await follow(customer.token, { query: '?after=0', headers })
      const enough = Math.min(seen.length + 7, 120)
      await expect.poll(() => seen.length + cursors(stream).length, { ...SOON, interval: 5 }).toBeGreaterThanOrEqual(enough)
      stream.cut()
      seen.push(...cursors(stream))
    }
    await storm
    expect(seen).toEqual(numbers(1, 120))
  })

  test('sends its cursor before the first event, so that an early disconnect loses nothing', async () => {
    const customer = await app.given.customer()
    await happen(customer.accountId)
    const first = await follow(customer.token)
    await expect.poll(first.text, SOON).toContain('\n\n')
    first.cut()
    await happen(customer.accountId, 'vm.restarted')
    const [, cursor] = /^id: (.*)$/m.exec(first.text())!
    const second = await follow(customer.token, { headers: { 'last-event-id': cursor! } })
    await expect.poll(() => second.events().map(({ event }) => event), SOON).toEqual(['vm.restarted'])
  })

  test('sends only what a labelSelector selects, and resumes after all that it has passed', async () => {
    const customer = await app.given.customer()
    const stream = await follow(customer.token, { query: '?after=0&labelSelector=env%3Dprod' })
    const sample = sampleEvent(customer.accountId, 'vm.started') as { data: { vm: object } }
    const start = (labels: object) =>
      app.db.tx((tx) =>
        recordEvent(tx, app.deps, {
          ...sample,
          data: { ...sample.data, vm: { ...sample.data.vm, labels } },
        } as Parameters<typeof recordEvent>[2]),
      )
    await start({ env: 'test' })
    await start({ env: 'prod' })
    await happen(customer.accountId, 'ticket.reply')
    await expect.poll(stream.text, SOON).toMatch(/\nid: 3\n\n$/)
    expect(stream.text()).not.toContain('"test"')
    expect([...stream.text().matchAll(/^event: (.*)$/gm)].map(([, type]) => type)).toEqual(['vm.started'])
    const refused = await customer.get('/events?labelSelector=env%20is%20prod', { accept: 'text/event-stream' })
    expect(refused.status).toBe(400)
  })

  test('sends an account its own events only', async () => {
    const [customer, stranger] = [await app.given.customer(), await app.given.customer()]
    const stream = await follow(customer.token)
    await expect.poll(stream.text, SOON).toBe('retry: 2000\nid: 0\n\n')
    await happen(stranger.accountId, 'vm.stopped')
    await happen(customer.accountId, 'vm.created')
    await expect.poll(() => stream.events().map(({ event }) => event), SOON).toEqual(['vm.created'])
  })

  test('refuses a Last-Event-ID that is no cursor', async () => {
    const customer = await app.given.customer()
    const { status, body } = await customer.get('/events', { accept: 'text/event-stream', 'last-event-id': 'abc' })
    expect([status, body.error]).toEqual([400, 'Validation failed: Last-Event-ID must be the cursor of an event'])
  })

  test('allows ten streams per account, and another one when one ends', async () => {
    const customer = await app.given.customer()
    const streams = await Promise.all(Array.from({ length: 10 }, () => follow(customer.token)))
    const refused = await follow(customer.token)
    expect([refused.response.statusCode, refused.response.headers['x-error-code']]).toEqual([422, 'quota_exceeded'])
    expect(refused.response.headers['content-type']).toMatch(/^application\/json/)
    streams[0]!.cut()
    await expect.poll(async () => (await follow(customer.token)).response.statusCode, SOON).toBe(200)
  })

  test('sends keep-alives while idle', async () => {
    const customer = await app.given.customer()
    const feed = openEventFeed(app.db, 20)
    const stream = await feed.stream({ accountId: customer.accountId }, null, new AbortController().signal)
    let text = ''
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await expect.poll(() => text, SOON).toMatch(/^retry: 2000\nid: 0\n\n(: still here\n\n){2,}$/)
    await feed.close()
    await once(stream, 'close')
  })

  test('ends when its token is revoked, without sending later events', async () => {
    const customer = await app.given.customer()
    const stream = await follow(customer.token)
    const ended = once(stream.response, 'end')
    await app.db.tx((tx) => revokeToken(tx, app.clock.now(), customer.tokenId))
    await happen(customer.accountId, 'vm.started')
    await ended
    expect(stream.text()).toBe('retry: 2000\nid: 0\n\n')
  })

  test('ends when its token is revoked also while idle', async () => {
    const customer = await app.given.customer()
    const feed = openEventFeed(app.db, 20)
    let admitted = true
    const stream = await feed.stream({ accountId: customer.accountId }, null, new AbortController().signal, async () => admitted)
    stream.resume()
    admitted = false
    await once(stream, 'end')
    expect(stream.readableEnded).toBe(true)
    await feed.close()
  })

  test('ends when the server stops', async () => {
    const customer = await app.given.customer()
    const feed = openEventFeed(app.db)
    const other = await openApi({ ...app.core, deps: { ...app.deps, feed } }, { isOnlyProcess: true })
    await other.app.listen({ host: '127.0.0.1', port: 0 })
    const stream = await follow(customer.token, { server: other.app })
    const ended = once(stream.response, 'end')
    await other.close(AbortSignal.timeout(20_000))
    await ended
    expect(stream.text()).toBe('retry: 2000\nid: 0\n\n')
  })
})
