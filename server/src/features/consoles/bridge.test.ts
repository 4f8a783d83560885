import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Duplex } from 'node:stream'
import { afterAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { TIMEOUT } from '../../../test/console-client.ts'
import { bridge, type Limits } from './bridge.ts'

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
await once(server, 'listening')
afterAll(() => server.close())

const PATIENT: Limits = { pingMs: 60_000, idleMs: 60_000, longestMs: 60_000 }

/** A host stream whose two directions the test controls. */
class Host extends Duplex {
  readonly taken: Buffer[] = []
  produced = 0
  #waiting: (() => void) | null = null
  readonly #bytes: number
  readonly #isStuck: boolean

  constructor({ bytes = 0, isStuck = false } = {}) {
    super({ highWaterMark: 16 * 1024 })
    this.#bytes = bytes
    this.#isStuck = isStuck
  }

  override _read(): void {
    if (this.#bytes === 0) return
    const size = Math.min(16 * 1024, this.#bytes - this.produced)
    this.produced += size
    this.push(size === 0 ? null : Buffer.alloc(size, 'x'))
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.taken.push(chunk)
    if (this.#isStuck) this.#waiting = done
    else done()
  }

  unstick(): void {
    const done = this.#waiting
    this.#waiting = null
    done?.()
  }
}

async function bridged(host: Host, limits: Partial<Limits> = {}, options: { autoPong?: boolean } = {}) {
  const accepted = once(server, 'connection') as Promise<[WebSocket]>
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, options)
  const [[end]] = await Promise.all([accepted, once(client, 'open')])
  return { client, end, bridge: bridge(end, host, { ...PATIENT, ...limits }) }
}

describe('a bridge', () => {
  test('forwards all host output in order before it ends', async () => {
    const host = new Host({ bytes: 4 * 1024 * 1024 })
    const { client, end, bridge } = await bridged(host)
    let received = 0
    client.on('message', (data: Buffer) => (received += data.length))
    expect(await bridge.ended).toBe('host_ended')
    end.close(4001)
    await once(client, 'close')
    expect(received).toBe(4 * 1024 * 1024)
  })

  test('applies backpressure of the client to the host', async () => {
    const host = new Host({ bytes: 1024 ** 3 })
    const { client, bridge } = await bridged(host)
    client.pause()
    let before = -1
    await expect.poll(() => [before, (before = host.produced)], { interval: 300, timeout: 20_000 }).toSatisfy(([a, b]) => a === b && b! > 0)
    expect(host.produced).toBeLessThan(64 * 1024 * 1024) // the buffers of two sockets
    client.terminate()
    expect(await bridge.ended).toBe('closed')
    expect(host.destroyed).toBe(true)
  })

  test('applies backpressure of the host to the client, and resumes when the host drains', async () => {
    const host = new Host({ isStuck: true })
    const { client, end, bridge } = await bridged(host, { pingMs: 20 })
    for (let i = 0; i < 4; i++) client.send(Buffer.alloc(10 * 1024, i))
    await expect.poll(() => end.isPaused, TIMEOUT).toBe(true)
    expect(host.taken).toHaveLength(1)
    const taken = (): number => Buffer.concat(host.taken).length
    await expect.poll(() => (host.unstick(), taken()), TIMEOUT).toBe(40 * 1024)
    expect(end.readyState).toBe(WebSocket.OPEN)
    client.terminate()
    expect(await bridge.ended).toBe('closed')
  })

  test('ends when the client does not answer pings', async () => {
    const { bridge } = await bridged(new Host(), { pingMs: 20 }, { autoPong: false })
    expect(await bridge.ended).toBe('closed')
  })

  test('keeps an idle client that answers pings until the idle timeout', async () => {
    const { bridge } = await bridged(new Host(), { pingMs: 100, idleMs: 500 })
    expect(await bridge.ended).toBe('idle')
  })

  test('ends at the maximum duration although it is in use', async () => {
    const { client, bridge } = await bridged(new Host(), { pingMs: 10, idleMs: 100, longestMs: 300 })
    const typing = setInterval(() => client.send('x'), 10)
    expect(await bridge.ended).toBe('too_long')
    clearInterval(typing)
  })

  test('ends when the host stream fails', async () => {
    const host = new Host()
    const { bridge } = await bridged(host)
    host.destroy(new Error('the host is gone'))
    expect(await bridge.ended).toBe('host_ended')
  })
})
