// WebSocket clients of consoles, over real sockets.
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import { PUBLIC_PREFIX } from '../src/compose.ts'
import type { TestApp } from './harness.ts'

type Customer = Awaited<ReturnType<TestApp['given']['customer']>>

interface Refused {
  status: number
  code: unknown
  headers: NodeJS.Dict<string | string[]>
  error: string
}

export interface ConnectOptions {
  origin?: string
  protocols?: string[]
}

/** Generous, for a loaded machine. */
export const TIMEOUT = { timeout: 10_000 }

let addresses = 0

/** A client: received data, close code, or HTTP status of a rejected handshake. */
export function connectTo(url: string, { origin, protocols = [] }: ConnectOptions = {}) {
  // Each from its own IP address, so that tests do not share a rate limit.
  const localAddress = `127.0.1.${(addresses++ % 250) + 1}`
  const socket = new WebSocket(url, protocols, { ...(origin && { origin }), localAddress })
  let text = ''
  socket.on('message', (data: Buffer) => (text += data.toString()))
  socket.on('error', () => {}) // a rejected handshake is read below
  const opened = once(socket, 'open').then(() => true)
  const refused = new Promise<Refused>((resolve) =>
    socket.once('unexpected-response', async (_, response) => {
      const body = JSON.parse((await response.toArray()).join('')) as { error: string }
      const { statusCode: status = 0, headers } = response
      resolve({ status, code: headers['x-error-code'], headers, error: body.error })
    }),
  )
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
  return {
    socket,
    /** Whether the handshake succeeded. */
    opened: Promise.race([opened, refused.then(() => false)]),
    refused,
    closed,
    text: () => text,
  }
}

/** A write whose Host header is not the address that is connected to. */
export async function sendOverSocket(port: number, path: string, { token, host, body }: { token: string; host: string; body: object }) {
  const headers = { host, 'x-api-key': token, 'content-type': 'application/json' }
  const sent = request({ host: '127.0.0.1', port, path: `${PUBLIC_PREFIX}${path}`, method: 'POST', headers, setHost: false })
  sent.end(JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const answer: unknown = JSON.parse((await response.toArray()).join(''))
  return { status: response.statusCode, code: response.headers['x-error-code'], body: answer }
}

export async function consoleFixture(app: TestApp) {
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as AddressInfo
  const ask = (customer: Customer, vmId: string, type = 'serial') => customer.post(`/vms/${vmId}/console`, { type })
  const link = async (customer: Customer, vmId: string): Promise<string> => {
    const { status, body } = await ask(customer, vmId)
    if (status !== 201) throw new Error(`POST /vms/${vmId}/console answered ${status}: ${body.error}`)
    return new URL(body.data.url as string).pathname
  }
  const connect = (path: string, options?: ConnectOptions) => connectTo(`ws://127.0.0.1:${port}${path}`, options)
  return {
    port,
    ask,
    link,
    connect,
    /** Opens a session and waits for the login prompt. */
    async atPrompt(customer: Customer, vmId: string) {
      const client = connect(await link(customer, vmId))
      expect(await client.opened).toBe(true)
      await expect.poll(client.text, TIMEOUT).toContain('login:')
      return client
    },
  }
}
