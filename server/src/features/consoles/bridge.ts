// Copies bytes between a WebSocket and a host's console with backpressure in both directions. Enforces client liveness by ping, an idle
// timeout and a maximum duration.
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { stopwatch } from '../../kernel/clock.ts'
import type { CloseReason } from './close-codes.ts'

export interface Limits {
  /** Ping interval of the client. */
  pingMs: number
  idleMs: number
  longestMs: number
}

export const LIMITS: Limits = { pingMs: 20_000, idleMs: 30 * 60_000, longestMs: 12 * 3_600_000 }

export interface Bridge {
  /** The first reason wins. */
  end(ending: CloseReason): void
  ended: Promise<CloseReason>
}

export function bridge(client: WebSocket, host: Duplex, limits: Limits): Bridge {
  const { promise: ended, resolve: end } = Promise.withResolvers<CloseReason>()
  const age = stopwatch()
  let quiet = stopwatch()
  let answered = true
  const moved = (): void => void (quiet = stopwatch())

  client.on('message', (data: Buffer) => {
    moved()
    if (!host.writable || host.write(data)) return
    client.pause()
    host.once('drain', () => client.resume())
  })
  client.on('pong', () => (answered = true))
  client.once('close', () => end('closed'))

  const watch = setInterval(() => {
    if (age() > limits.longestMs) return end('too_long')
    if (quiet() > limits.idleMs) return end('idle')
    if (!answered && !client.isPaused) return client.terminate()
    answered = false
    client.ping()
  }, limits.pingMs).unref()

  host.on('error', () => {}) // the copy loop below ends with the error
  void copy(host, client, moved).then(
    () => end('host_ended'),
    () => end(client.readyState === client.OPEN ? 'host_ended' : 'closed'),
  )
  void ended.then(() => {
    clearInterval(watch)
    client.resume()
    host.destroy()
  })
  return { end, ended }
}

async function copy(host: Duplex, client: WebSocket, moved: () => void): Promise<void> {
  for await (const chunk of host as AsyncIterable<Buffer>) {
    moved()
    await new Promise<void>((resolve, reject) => client.send(chunk, { binary: true }, (error) => (error ? reject(error) : resolve())))
  }
}
