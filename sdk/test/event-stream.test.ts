import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openApi } from '../../server/src/compose.ts'
import { openEventFeed } from '../../server/src/features/events/feed.ts'
import { Berth, isRefusal, type Event } from '../src/index.ts'
import { frameParser, readFrames } from '../src/server-sent-events.ts'
import { collected, happenings } from './happenings.ts'
import { html, json, scripted, type Behaviour } from './scripted.ts'
import { sdkWorld } from './world.ts'

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

describe('the event stream of the product', async () => {
  const app = await sdkWorld()
  const proxy = await app.proxy()

  async function listener() {
    const customer = await app.given.customer()
    const berth = app.client(customer, { baseUrl: proxy.baseUrl, sleep: async () => {} })
    return { berth, customer, happen: happenings(app, customer.accountId) }
  }

  test('tells what happens, in the form of the list', async () => {
    const { berth, happen } = await listener()
    await happen(2)
    const [event] = await collected(berth.events.list({ after: '1' }))
    for await (const streamed of berth.events.stream({ after: '1' })) {
      expect(streamed).toEqual(event)
      break
    }
  })

  test('resumes where it was cut, again and again, without loss or repeat', async () => {
    const { berth, happen } = await listener()
    const storm = happen(120)
    const reconnects: (string | null)[] = []
    let opened = 0
    const stream = berth.events.stream({ after: '0', onOpen: () => opened++, onReconnect: (_, after) => void reconnects.push(after) })
    const cursors = await take(stream, 120, (cursor) => Number(cursor) % 25 === 0 && proxy.cutAll())
    await storm
    expect(cursors).toEqual(numbers(1, 120))
    expect(reconnects.length).toBeGreaterThanOrEqual(2)
    expect(opened).toBe(reconnects.length + 1)
  })

  test('goes on when the server was away', async () => {
    const { customer, happen } = await listener()
    const start = async (port: number) => {
      const api = await openApi({ ...app.core, deps: { ...app.deps, feed: openEventFeed(app.db) } }, { alone: true })
      await api.app.listen({ host: '127.0.0.1', port })
      return { api, port: (api.app.server.address() as AddressInfo).port }
    }
    const first = await start(0)
    let second: Awaited<ReturnType<typeof start>> | undefined
    const restart = async (): Promise<void> => void (second ??= await start(first.port))
    const berth = new Berth({ baseUrl: `http://127.0.0.1:${first.port}`, token: customer.token, sleep: restart })
    const stop = (cursor: string): void => void (cursor === '3' && first.api.close(AbortSignal.timeout(1_000)).then(() => happen(3)))
    await happen(3)
    expect(await take(berth.events.stream({ after: '0' }), 6, stop)).toEqual(numbers(1, 6))
    await second!.api.close()
  })

  test('ends with the reason of its signal', async () => {
    const { berth, happen } = await listener()
    await happen(1)
    const controller = new AbortController()
    const reading = take(berth.events.stream({ after: '0', signal: controller.signal }), 2, () => controller.abort(new Error('enough')))
    await expect(reading).rejects.toThrow('enough')
  })

  test('is refused at once to a token that does not work', async () => {
    const berth = app.client({ token: 'vmk_nothing' })
    const refused = take(berth.events.stream(), 1)
    await expect(refused).rejects.toMatchObject({ code: 'unauthorized', message: 'Invalid API token' })
    await expect(refused).rejects.toSatisfy((error) => isRefusal(error, 'unauthorized'))
  })
})

const sse =
  (text: string): Behaviour =>
  (response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)

const eventFrame = (cursor: number): string => `id: ${cursor}\nevent: x\ndata: {"cursor":"${cursor}"}\n\n`

describe('a stream that is opened again', () => {
  test('names the last event it had, keeps to the pause it is told, and outlasts any trouble', async () => {
    const trouble = Array.from({ length: 8 }, () => html(502))
    const server = await scripted(sse(`retry: 7000\n\n${eventFrame(5)}`), ...trouble, sse(eventFrame(6)))
    const pauses: number[] = []
    const sleep = async (ms: number): Promise<void> => void pauses.push(ms)
    const berth = new Berth({ baseUrl: server.baseUrl, token: 'vmk_test', sleep })
    expect(await take(berth.events.stream({ after: '4' }), 2)).toEqual(['5', '6'])
    expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual(['4', ...Array<string>(9).fill('5')])
    expect(pauses).toHaveLength(9)
    expect(pauses[0]).toBeLessThan(7_000)
  })

  test('goes on from an id that came without an event', async () => {
    const server = await scripted(sse('id: 41\n\n'), sse(eventFrame(42)))
    const berth = new Berth({ baseUrl: server.baseUrl, token: 'vmk_test', sleep: async () => {} })
    expect(await take(berth.events.stream(), 1)).toEqual(['42'])
    expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '41'])
  })

  test('gives up a server that was never there, after its retries', async () => {
    const server = await scripted(html(502), html(502), html(502))
    const berth = new Berth({ baseUrl: server.baseUrl, token: 'vmk_test', sleep: async () => {} })
    await expect(take(berth.events.stream({ maxRetries: 1 }), 1)).rejects.toMatchObject({ status: 502 })
    expect(server.requests).toHaveLength(2)
  })

  test('ends with a refusal that no waiting helps', async () => {
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
  const collect = async (chunks: Uint8Array[]) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        chunks.forEach((chunk) => controller.enqueue(chunk))
        controller.close()
      },
    })
    return collected(readFrames(body, { quietMs: 10_000 }))
  }

  test('are read as the standard says', () => {
    expect(frameParser()(TEXT)).toEqual(FRAMES)
  })

  test('are the same wherever the bytes are parted', async () => {
    const bytes = new TextEncoder().encode(TEXT)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
        expect(await collect(places.slice(1).map((end, i) => bytes.slice(places[i], end)))).toEqual(FRAMES)
      }),
    )
  })

  test('end when nothing comes any more', async () => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')) })
    expect(await collected(readFrames(body, { quietMs: 50 }))).toEqual([{ id: null, data: '1', retryMs: null }])
  })
})
