// The server on a real port and clients of it. Pauses of a client advance the server's clock instead of waiting.
import type { AddressInfo } from 'node:net'
import { testApp, type TestAppOptions } from '../../server/test/harness.ts'
import { Berth, type ClientOptions, type Handler } from '../src/index.ts'
import { openProxy } from './proxy.ts'

export async function sdkFixture(options: TestAppOptions = {}) {
  const app = await testApp(options)
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as AddressInfo
  const baseUrl = `http://127.0.0.1:${port}`
  const passTime = async (ms: number): Promise<void> => app.clock.advance(`${Math.ceil(ms / 1_000)}s`)
  return {
    ...app,
    baseUrl,
    passTime,
    proxy: () => openProxy(port),
    client: ({ token }: { token: string }, more: Partial<ClientOptions> = {}) => new Berth({ baseUrl, token, sleep: passTime, ...more }),
  }
}

export type SdkFixture = Awaited<ReturnType<typeof sdkFixture>>

/** Records every attempt: the request, and the response if there was one. */
export function recordAttempts() {
  const attempts: { method: string; path: string; key: string | null; status: number | null; replayed: boolean }[] = []
  const handler: Handler = (next) => async (request) => {
    const { pathname, search } = new URL(request.url)
    const attempt = {
      method: request.method,
      path: pathname.replace('/api/public/v1', '') + search,
      key: request.headers.get('idempotency-key'),
      status: null as number | null,
      replayed: false,
    }
    attempts.push(attempt)
    const response = await next(request)
    attempt.status = response.status
    attempt.replayed = response.headers.has('idempotent-replayed')
    return response
  }
  return { attempts, handlers: [handler] }
}
