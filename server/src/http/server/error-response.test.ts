import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { PREFIX, throwawayApi } from '../../../test/throwaway-api.ts'
import { ERROR_CATALOG, notFound, ApiError, type ErrorCode } from '../../kernel/errors.ts'
import { sql } from '../../kernel/database/db.ts'
import { object, Type } from '../api/schema.ts'

const about = { summary: 'A test', tag: 'Test', scope: 'catalog:read', data: object({ ok: Type.Boolean() }) }

describe('an error', async () => {
  const app = await testApp()
  const customer = await app.given.customer()
  const api = await throwawayApi(app, (routes) => {
    routes.get('/fails/:code', { ...about, operationId: 'fail', params: { code: Type.String() } }, async ({ params }) => {
      throw new ApiError(params.code as ErrorCode, 'This is the sentence', [{ field: 'name', message: 'is wrong' }])
    })
    routes.get('/breaks', { ...about, operationId: 'break' }, async () => {
      throw new Error('select hash from secrets')
    })
    routes.get('/misquotes', { ...about, operationId: 'misquote' }, () => app.db.one<{ ok: boolean }>(sql`select hash from no_such_table`))
    routes.get('/loses-database', { ...about, operationId: 'loseDatabase' }, async () => {
      throw Object.assign(new Error('terminating connection'), { code: '57P01' })
    })
    routes.post('/things/:id', { ...about, operationId: 'makeThing', params: { id: Type.String() } }, async () => {
      throw notFound('Thing')
    })
  })
  const send = (method: string, path: string, options: Parameters<typeof api.send>[2] = {}) =>
    api.send(method, path.startsWith('/api') ? path : `${PREFIX}${path}`, { token: customer.token, ...options })

  test.each(Object.keys(ERROR_CATALOG) as ErrorCode[])('%s has its status, exactly two fields, and its code in a header', async (code) => {
    const { status, headers, text } = await send('GET', `/fails/${code}`)
    expect(status).toBe(ERROR_CATALOG[code].status)
    expect(text).toBe('{"success":false,"error":"This is the sentence"}')
    expect(headers).toMatchObject({ 'x-error-code': code, 'content-type': 'application/json; charset=utf-8' })
    expect(headers['x-request-id']).toMatch(/^c[0-9a-z]{24}$/)
    expect(headers).not.toHaveProperty('retry-after')
  })

  test('is a problem document (RFC 9457) on request', async () => {
    const headers = { accept: 'application/problem+json', 'x-request-id': 'mine-1' }
    const answer = await send('GET', '/fails/busy', { headers })
    expect(answer.status).toBe(409)
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(JSON.parse(answer.text)).toEqual({
      type: '/docs/errors#busy',
      title: ERROR_CATALOG.busy.title,
      status: 409,
      detail: 'This is the sentence',
      code: 'busy',
      requestId: 'mine-1',
      errors: [{ field: 'name', message: 'is wrong' }],
    })
  })

  test.each(['/breaks', '/misquotes'])('that is a bug (%s) shows only a request id', async (path) => {
    const { status, headers, text } = await send('GET', path)
    expect(status).toBe(500)
    expect(JSON.parse(text)).toEqual({
      success: false,
      error: `Something went wrong on our side. Quote request ${headers['x-request-id']} to support`,
    })
    expect(headers['x-error-code']).toBe('internal_error')
  })

  test('of an unavailable database is 503 and says what to do', async () => {
    const { status, headers, text } = await send('GET', '/loses-database')
    expect([status, headers['x-error-code']]).toEqual([503, 'service_unavailable'])
    expect(text).toContain('try again in a few seconds, with the same Idempotency-Key')
  })

  test('keeps a valid request id of the client', async () => {
    expect((await send('GET', '/fails/busy', { headers: { 'x-request-id': 'trace:1.a_b-c' } })).headers['x-request-id']).toBe(
      'trace:1.a_b-c',
    )
    for (const odd of ['a b', 'x'.repeat(65), '"<script>"']) {
      expect((await send('GET', '/fails/busy', { headers: { 'x-request-id': odd } })).headers['x-request-id']).toMatch(/^c[0-9a-z]{24}$/)
    }
  })

  describe('without a route', () => {
    test.each([
      '/',
      '/favicon.ico',
      '/api',
      '/api/public',
      '/api/public/v2/regions',
      '/api/public/v1x',
      '/robots.txt?x=1',
      '/%zz',
      '//x',
      '/%00',
    ])('%s is 404 in the same envelope, charged to the IP address', async (path) => {
      const { status, headers, text } = await api.send('GET', path)
      expect([status, headers['x-error-code'], headers['x-ratelimit-limit']]).toEqual([404, 'not_found', '100'])
      expect(Object.keys(JSON.parse(text) as object)).toEqual(['success', 'error'])
      const next = await api.send('GET', path)
      expect(Number(next.headers['x-ratelimit-remaining'])).toBe(Number(headers['x-ratelimit-remaining']) - 1)
    })

    test.each(['/nothing', '', '/', '/fails', '/fails/a/b', '/%zz', '/fails/%ff/x'])(
      '"%s" behind the API is 401 without a token and 404 with one',
      async (path) => {
        expect((await api.send('GET', `${PREFIX}${path}`)).status).toBe(401)
        expect((await send('GET', `${PREFIX}${path}`)).status).toBe(404)
      },
    )

    test('the body is not read', async () => {
      const broken = { payload: '{', headers: { 'content-type': 'application/json' } }
      expect((await send('POST', '/nothing', broken)).status).toBe(404)
      expect((await send('POST', '/breaks', broken)).status).toBe(405)
      expect((await send('POST', '/nothing', { payload: 'x', headers: { 'content-type': 'text/plain' } })).status).toBe(404)
      expect((await api.send('POST', '/', broken)).status).toBe(404)
    })
  })

  describe('of a wrong method', () => {
    test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'QUERY', 'TRACE'])('%s is 405 and names the allowed ones', async (method) => {
      const { status, headers, text } = await send(method, '/breaks')
      expect([status, headers['x-error-code'], headers['allow']]).toEqual([405, 'method_not_allowed', 'GET, HEAD'])
      expect(JSON.parse(text)).toEqual({ success: false, error: `${method} is not allowed here: use GET or HEAD` })
    })

    test('needs a token first', async () => {
      expect((await api.send('DELETE', `${PREFIX}/breaks`)).status).toBe(401)
    })

    test('lists every method of a path with ids', async () => {
      expect((await send('DELETE', '/things/c123')).headers['allow']).toBe('POST')
      expect((await send('DELETE', '/fails/%2e%2e%2fx')).headers['allow']).toBe('GET, HEAD')
    })
  })

  test('OPTIONS returns the allowed methods after the same checks', async () => {
    expect((await api.send('OPTIONS', `${PREFIX}/breaks`)).status).toBe(401)
    const { status, headers, text } = await send('OPTIONS', '/breaks')
    expect([status, headers['allow'], text]).toEqual([204, 'GET, HEAD', ''])
    expect(headers['x-ratelimit-limit']).toBe('1000000')
    expect((await send('OPTIONS', '/nothing')).status).toBe(404)
  })

  test('HEAD responds like GET, without the body', async () => {
    const { status, headers, text } = await send('HEAD', '/fails/busy')
    expect([status, headers['x-error-code'], text]).toEqual([409, 'busy', ''])
    expect((await api.send('HEAD', `${PREFIX}/breaks`)).status).toBe(401)
  })

  test.each(['c'.repeat(65), 'x', '%00', '%zz', '%ff', '%F0%9F%98%80', 'c..%2f..%2fetc', 'a%20b', 'c'.repeat(8_000), '__proto__', ''])(
    'of an unknown id is the same for %s',
    async (id) => {
      const { status, text } = await send('POST', `/things/${id}`)
      expect([status, text]).toEqual([404, '{"success":false,"error":"Thing not found"}'])
    },
  )
})
