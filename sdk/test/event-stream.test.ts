import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openApi } from '../../server/src/compose.ts'
import { openEventFeed } from '../../server/src/features/events/feed.ts'
import { Berth, isApiError, type Event } from '../src/index.ts'
import { frameParser, readFrames } from '../src/server-sent-events.ts'
import { collect, eventEmitter } from './emit-events.ts'
import { html, json, scripted, type Behaviour } from './scripted.ts'
import { sdkFixture } from './fixture.ts'

const numbers = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => String(from + i))

async function take(stream: AsyncIterable<Event>, count: number, each: (cursor: string) => void = () => {}): Promise<string[]> {
  const cursors: string[] = []
  for await (const { cursor } of stream) {
    cursors.push(cursor)
    each(cursor)
    if (cursors.length === count) break
  }
  return cursors
}

describe('the event stream of the server', async () => {
  const app = await sdkFixture()
  const proxy = await app.proxy()

  async function listener() {
    const customer = await app.given.customer()
    const berth = app.client(customer, { baseUrl: proxy.baseUrl, sleep: async () => {} })
    return { berth, customer, emit: eventEmitter(app, customer.accountId) }
  }

  test('yields events in the format of the list', async () => {
    const { berth, emit } = await listener()
    await emit(2)
    const [event] = await collect(berth.events.list({ after: '1' }))
    for await (const streamed of berth.events.stream({ after: '1' })) {
      expect(streamed).toEqual(event)
      break
    }
  })

  test('resumes after every disconnect without loss or duplicates', async () => {
    const { berth, emit } = await listener()
    let emitting = emit(25)
    const reconnects: (string | null)[] = []
    let opened = 0
    const stream = berth.events.stream({ after: '0', onOpen: () => opened++, onReconnect: (_, after) => void reconnects.push(after) })
    // A cut is only noticed when nothing that was sent before it is left to read.
    const cursors = await take(stream, 120, (cursor) => {
      if (Number(cursor) % 25 !== 0) return
      proxy.cutAll()
      emitting = emitting.then(() => emit(cursor === '100' ? 20 : 25))
    })
    await emitting
    expect(cursors).toEqual(numbers(1, 120))
    expect(reconnects).toEqual(['25', '50', '75', '100'])
    expect(opened).toBe(reconnects.length + 1)
  })

  test('resumes after a restart of the server', async () => {
    const { customer, emit } = await listener()
    const start = async (port: number) => {
      const api = await openApi({ ...app.core, deps: { ...app.deps, feed: openEventFeed(app.db) } }, { isOnlyProcess: true })
      await api.app.listen({ host: '127.0.0.1', port })
      return { api, port: (api.app.server.address() as AddressInfo).port }
    }
    const first = await start(0)
    let second: Awaited<ReturnType<typeof start>> | undefined
    const restart = async (): Promise<void> => void (second ??= await start(first.port))
    const berth = new Berth({ baseUrl: `http://127.0.0.1:${first.port}`, token: customer.token, sleep: restart })
    const stop = (cursor: string): void => void (cursor === '3' && first.api.close(AbortSignal.timeout(1_000)).then(() => emit(3)))
    await emit(3)
    expect(await take(berth.events.stream({ after: '0' }), 6, stop)).toEqual(numbers(1, 6))
    await second!.api.close()
  })

  test('ends with the reason of its signal', async () => {
    const { berth, emit } = await listener()
    await emit(1)
    const controller = new AbortController()
    const reading = take(berth.events.stream({ after: '0', signal: controller.signal }), 2, () => controller.abort(new Error('enough')))
    await expect(reading).rejects.toThrow('enough')
  })

  test('fails at once with an invalid token', async () => {
    const berth = app.client({ token: 'vmk_nothing' })
    const refused = take(berth.events.stream(), 1)
    await expect(refused).rejects.toMatchObject({ code: 'unauthorized', message: 'Invalid API token' })
    await expect(refused).rejects.toSatisfy((error) => isApiError(error, 'unauthorized'))
  })
})

const sse =
  (text: string): Behaviour =>
  (response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)

const eventFrame = (cursor: number): string => `id: ${cursor}\nevent: x\ndata: {"cursor":"${cursor}"}\n\n`

describe('a reconnect', () => {
  test('sends the last event id, honours retry, and is retried until it succeeds', async () => {
    const failures = Array.from({ length: 8 }, () => html(502))
    const server = await scripted(sse(`retry: 7000\n\n${eventFrame(5)}`), ...failures, sse(eventFrame(6)))
    const pauses: number[] = []
    const sleep = async (ms: number): Promise<void> => void pauses.push(ms)
    const berth = new Berth({ baseUrl: server.baseUrl, token: 'vmk_test', sleep })
    expect(await take(berth.events.stream({ after: '4' }), 2)).toEqual(['5', '6'])
    expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual(['4', ...Array<string>(9).fill('5')])
    expect(pauses).toHaveLength(9)
    expect(pauses[0]).toBeLessThan(7_000)
  })

  test('resumes from an id that came without an event', async () => {
    const server = await scripted(sse('id: 41\n\n'), sse(eventFrame(42)))
    const berth = new Berth({ baseUrl: server.baseUrl, token: 'vmk_test', sleep: async () => {} })
    expect(await take(berth.events.stream(), 1)).toEqual(['42'])
    expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '41'])
  })

  test('is limited to maxRetries before the first connect', async () => {
    const server = await scripted(html(502), html(502), html(502))
    const berth = new Berth({ baseUrl: server.baseUrl, token: 'vmk_test', sleep: async () => {} })
    await expect(take(berth.events.stream({ maxRetries: 1 }), 1)).rejects.toMatchObject({ status: 502 })
    expect(server.requests).toHaveLength(2)
  })

  test('ends with an error that no retry fixes', async () => {
    const server = await scripted(sse(eventFrame(1)), json(401, { success: false, error: 'API token has expired' }))
    const berth = new Berth({ baseUrl: server.baseUrl, token: 'vmk_test', sleep: async () => {} })
    await expect(take(berth.events.stream(), 2)).rejects.toThrow('API token has expired')
  })
})

describe('frames', () => {
  const TEXT =
    'retry: 2000\r\n\r\n: still here\n\nid: 7\nevent: vm.created\ndata: {"a":\ndata:1}\n\ndata\n\nid\rdata: ü – 🚢\r\rignored: x\n\ndata: cut off'
  const FRAMES = [
    { id: null, data: null, retryMs: 2000 },
    { id: null, data: null, retryMs: null },
    { id: '7', data: '{"a":\n1}', retryMs: null },
    { id: '7', data: '', retryMs: null },
    { id: '', data: 'ü – 🚢', retryMs: null },
    { id: '', data: null, retryMs: null },
  ]
  const collectFrames = async (chunks: Uint8Array[]) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        chunks.forEach((chunk) => controller.enqueue(chunk))
        controller.close()
      },
    })
    return collect(readFrames(body, { idleTimeoutMs: 10_000 }))
  }

  test('are parsed as the standard says', () => {
    expect(frameParser()(TEXT)).toEqual(FRAMES)
  })

  test('are the same for every chunking of the bytes', async () => {
    const bytes = new TextEncoder().encode(TEXT)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
        expect(await collectFrames(places.slice(1).map((end, i) => bytes.slice(places[i], end)))).toEqual(FRAMES)
      }),
    )
  })

  test('end after the idle timeout', async () => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')) })
    expect(await collect(readFrames(body, { idleTimeoutMs: 50 }))).toEqual([{ id: null, data: '1', retryMs: null }])
  })
})
