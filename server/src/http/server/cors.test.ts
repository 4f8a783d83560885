import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { givenBrowser } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { readConfig } from '../../config.ts'

const PAGE = 'https://status.example.com'

/** A server that is asked over real connections. */
async function listening(environment: Record<string, string>) {
  const app = await testApp({ environment })
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as AddressInfo
  const send = (path: string, headers: Record<string, string>, method = 'GET') =>
    fetch(`http://127.0.0.1:${port}${path}`, { method, headers })
  return { app, send }
}

const corsHeaders = ({ headers }: Response): string[] => [...headers.keys()].filter((name) => name.startsWith('access-control-'))
const PREFLIGHT = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-api-key,content-type' }

describe('a page of an allowed origin', async () => {
  const { app, send } = await listening({ BERTH_CORS_ORIGINS: `${PAGE}, http://localhost:5173` })
  const { token } = await app.given.customer()

  test('is allowed to send a token, without cookies', async () => {
    const answer = await send('/api/public/v1/vms', { origin: PAGE, ...PREFLIGHT }, 'OPTIONS')
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': expect.stringContaining('x-api-key'),
      'access-control-max-age': '600',
      vary: 'origin',
    })
    expect(corsHeaders(answer)).not.toContain('access-control-allow-credentials')
  })

  test('reads responses, refusals and their headers', async () => {
    for (const [headers, status] of [
      [{ 'x-api-key': token }, 200],
      [{}, 401],
    ] as const) {
      const answer = await send('/api/public/v1/vms', { origin: PAGE, ...headers })
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, PAGE])
      expect(answer.headers.get('access-control-expose-headers')).toContain('x-ratelimit-remaining')
      expect(corsHeaders(answer)).not.toContain('access-control-allow-credentials')
    }
  })

  test('gets nothing of the dashboard, with a session neither', async () => {
    const browser = await givenBrowser(app)
    for (const path of ['/api/dashboard/session', '/api/dashboard/v1/vms', '/healthz', '/']) {
      expect(corsHeaders(await send(path, { origin: PAGE, cookie: browser.cookie()! }))).toEqual([])
      expect(corsHeaders(await send(path, { origin: PAGE, ...PREFLIGHT }, 'OPTIONS'))).toEqual([])
    }
  })

  test('preflights are not charged', async () => {
    for (let i = 0; i < 120; i++) await send(`/api/public/v1/vms/${i}`, { origin: PAGE, ...PREFLIGHT }, 'OPTIONS')
    const answer = await send('/api/public/v1/vms', { origin: PAGE, ...PREFLIGHT }, 'OPTIONS')
    expect([answer.status, answer.headers.get('x-ratelimit-remaining')]).toEqual([204, '100'])
  })

  test.each(['https://evil.example', 'http://status.example.com', `${PAGE}.evil.example`, 'null'])('%s is not allowed', async (origin) => {
    const preflight = await send('/api/public/v1/vms', { origin, ...PREFLIGHT }, 'OPTIONS')
    expect([preflight.status, corsHeaders(preflight)]).toEqual([401, []])
    const answer = await send('/api/public/v1/vms', { origin, 'x-api-key': token })
    expect([answer.status, corsHeaders(answer), answer.headers.get('vary')]).toEqual([200, [], 'origin'])
  })
})

test('without the setting no origin is allowed', async () => {
  const { app, send } = await listening({})
  const { token } = await app.given.customer()
  expect(corsHeaders(await send('/api/public/v1/vms', { origin: PAGE, 'x-api-key': token }))).toEqual([])
  expect(corsHeaders(await send('/api/public/v1/vms', { origin: PAGE, ...PREFLIGHT }, 'OPTIONS'))).toEqual([])
})

test.each(['*', 'status.example.com', 'https://status.example.com/', 'ftp://x'])('BERTH_CORS_ORIGINS=%s is refused', (value) => {
  expect(() => readConfig({ BERTH_CORS_ORIGINS: value })).toThrow('must be origins such as https://app.example.com')
})
