// Clients at the consoles of a test's product, over real sockets.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
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

/** For a busy machine. */
export const TIMEOUT = { timeout: 10_000 }

let addresses = 0

/** A client at the socket: what it hears, how it ends, or how it was refused. */
export function connectTo(url: string, { origin, protocols = [] }: ConnectOptions = {}) {
  // Each from an address of its own, so that no test empties the bucket of another.
  const localAddress = `127.0.1.${(addresses++ % 250) + 1}`
  const socket = new WebSocket(url, protocols, { ...(origin && { origin }), localAddress })
  let text = ''
  socket.on('message', (data: Buffer) => (text += data.toString()))
  socket.on('error', () => {}) // a refusal is read below
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
    /** Whether it was let in. */
    opened: Promise.race([opened, refused.then(() => false)]),
    refused,
    closed,
    text: () => text,
  }
}

export async function consoleWorld(app: TestApp) {
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
    /** A session that has got as far as the login prompt. */
    async atPrompt(customer: Customer, vmId: string) {
      const client = connect(await link(customer, vmId))
      expect(await client.opened).toBe(true)
      await expect.poll(client.text, TIMEOUT).toContain('login:')
      return client
    },
  }
}
