// Routes for one test, on the product's server with the same tokens and limits. Raw bytes are sent over a real socket.
import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { InjectOptions } from 'fastify'
import { afterAll } from 'vitest'
import { openTokens } from '../src/features/accounts/tokens.ts'
import type { Api } from '../src/http/api/api.ts'
import { mountApi } from '../src/http/api/mount.ts'
import { rateLimit } from '../src/http/api/rate-limit.ts'
import { createServer } from '../src/http/server/server.ts'
import type { Db } from '../src/kernel/database/db.ts'
import { memoryCounters, type Counters } from '../src/kernel/database/window-counters.ts'
import type { TestApp } from './harness.ts'

export const PREFIX = '/api/public/v1'

export async function throwawayApi(
  app: TestApp,
  routes: (api: Api) => void,
  options: { trustedProxies?: string[]; counters?: Counters; tokensDb?: Db } = {},
) {
  const { log, metrics, db, clock } = app.deps
  const limits = rateLimit(options.counters ?? memoryCounters(clock), clock)
  const tokens = await openTokens(options.tokensDb ?? db, clock)
  const server = createServer({ log, metrics, rateLimit: limits, trustedProxies: options.trustedProxies ?? [] })
  const { authenticate, hasWorked } = tokens
  const operations = await mountApi(server, { prefix: PREFIX, authenticate, hasWorked, rateLimit: limits }, app.deps, routes)
  afterAll(async () => {
    server.server.closeAllConnections()
    await server.close()
    await tokens.close()
  })

  const send = async (method: string, url: string, options: Omit<InjectOptions, 'method' | 'url'> & { token?: string } = {}) => {
    const { token, headers, ...rest } = options
    const response = await server.inject({
      method: method as 'GET',
      url,
      headers: { ...(token && { 'x-api-key': token }), ...headers },
      ...rest,
    })
    return { status: response.statusCode, headers: response.headers as Record<string, string>, text: response.body }
  }

  /** Sends raw bytes and returns the response until the server closes the connection. */
  const exchange = async (bytes: string | Buffer, socket?: Socket): Promise<string> => {
    const connection = socket ?? (await dial())
    connection.write(bytes)
    return readAll(connection)
  }
  let port: number | undefined
  const listen = async (): Promise<number> => {
    if (port === undefined) {
      await server.listen({ host: '127.0.0.1', port: 0 })
      port = (server.server.address() as AddressInfo).port
    }
    return port
  }
  const dial = async (): Promise<Socket> => {
    const socket = connect(await listen(), '127.0.0.1')
    socket.on('error', () => {}) // a reset is a valid way to close
    await once(socket, 'connect')
    return socket
  }
  return { server, operations, send, exchange, dial, listen }
}

/** All that came until the connection was closed, also by a reset: the peer may close while we still send. */
export async function readAll(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  return text
}
