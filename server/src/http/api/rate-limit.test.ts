import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { PREFIX, throwawayApi } from '../../../test/throwaway-api.ts'
import { postgresCounters } from '../../kernel/database/window-counters.ts'
import { sql } from '../../kernel/database/db.ts'
import { unauthorized } from '../../kernel/errors.ts'
import { newToken } from '../../kernel/crypto.ts'
import { mountApi } from './mount.ts'
import { rateLimit } from './rate-limit.ts'
import { Type } from './schema.ts'
import { createServer } from '../server/server.ts'

const about = { summary: 'A test', tag: 'Test', data: Type.Unknown() }

describe('rate limits', async () => {
  const app = await testApp()
  const start = async (options: Parameters<typeof throwawayApi>[2] = {}) => {
    const api = await throwawayApi(
      app,
      (routes) => {
        routes.get('/free', { ...about, operationId: 'free', scope: null }, async () => 'ok')
        routes.post('/scoped', { ...about, operationId: 'scoped', scope: 'vms:create', body: Type.Object({}) }, async () => 'ok')
      },
      options,
    )
    return {
      ...api,
      get: (path: string, token?: string, rest: object = {}) => api.send('GET', path, { ...(token && { token }), ...rest }),
    }
  }
  const standing = ({ headers }: { headers: Record<string, string> }) =>
    ['limit', 'remaining', 'reset'].map((name) => Number(headers[`x-ratelimit-${name}`]))

  test('admit 600 requests a minute per token, then name the limit and the wait', async () => {
    const api = await start()
    const { token } = await app.given.customer({ requestsPerMinute: 600 })
    const answers = await Promise.all(Array.from({ length: 700 }, () => api.get(`${PREFIX}/free`, token)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(600)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(100)
    app.clock.advance('48s')
    const refused = await api.get(`${PREFIX}/free`, token)
    expect(refused.text).toBe('{"success":false,"error":"Rate limit exceeded (per token): retry in 12 seconds"}')
    expect(refused.headers).toMatchObject({ 'retry-after': '12', 'x-error-code': 'rate_limited' })
    expect(standing(refused)).toEqual([600, 0, 12])
    app.clock.advance('12s')
    const again = await api.get(`${PREFIX}/free`, token)
    expect(again.status).toBe(200)
    expect(standing(again)).toEqual([600, 599, 60])
    expect(again.headers).not.toHaveProperty('retry-after')
  })

  test('set Retry-After to at least one second', async () => {
    const api = await start()
    const { token } = await app.given.customer({ requestsPerMinute: 1 })
    await api.get(`${PREFIX}/free`, token)
    app.clock.advance('59999ms')
    const { headers, text } = await api.get(`${PREFIX}/free`, token)
    expect(headers['retry-after']).toBe('1')
    expect(text).toContain('retry in 1 second"')
  })

  test('count per token, with a limit per token', async () => {
    const api = await start()
    const customer = await app.given.customer({ requestsPerMinute: 2 })
    const other = await app.given.token(customer.accountId, { requestsPerMinute: 5_000 })
    await api.get(`${PREFIX}/free`, customer.token)
    expect(standing(await api.get(`${PREFIX}/free`, customer.token))).toEqual([2, 0, 60])
    expect(standing(await api.get(`${PREFIX}/free`, other.token))).toEqual([5_000, 4_999, 60])
    expect((await api.get(`${PREFIX}/free`, customer.token)).status).toBe(429)
  })

  test('send the headers of the applied limit with every response', async () => {
    const api = await start()
    const { token } = await app.given.customer({ scopes: ['catalog:read'], requestsPerMinute: 600 })
    const ofToken = [
      await api.get(`${PREFIX}/free`, token),
      await api.send('POST', `${PREFIX}/scoped`, { token }), // 403
      await api.send('POST', `${PREFIX}/free`, { token }), // 405
      await api.get(`${PREFIX}/nothing`, token), // 404
    ]
    expect(ofToken.map(({ status }) => status)).toEqual([200, 403, 405, 404])
    expect(ofToken.map(standing)).toEqual([599, 598, 597, 596].map((left) => [600, left, 60]))
    const ofAddress = [
      await api.get(`${PREFIX}/free`),
      await api.get(`${PREFIX}/nothing`),
      await api.get('/'),
      await api.get('/favicon.ico'),
    ]
    expect(ofAddress.map(({ status }) => status)).toEqual([401, 401, 404, 404])
    expect(ofAddress.map(standing)).toEqual([99, 98, 97, 96].map((left) => [100, left, 60]))
  })

  test('stop token guessing at 100 a minute, while a valid token keeps working', async () => {
    const api = await start()
    const { token } = await app.given.customer()
    const guesses = await Promise.all(
      Array.from({ length: 300 }, (_, i) => api.get(`${PREFIX}/free`, i % 2 ? newToken('vmk_') : 'vmk_wrong')),
    )
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(100)
    const stopped = guesses.filter(({ status }) => status === 429)
    expect(stopped).toHaveLength(200)
    expect(stopped[0]!.text).toBe('{"success":false,"error":"Rate limit exceeded (per IP): retry in 60 seconds"}')
    expect((await api.get('/')).status).toBe(429)
    expect((await api.get(`${PREFIX}/free`)).status).toBe(429)
    app.clock.advance('1s')
    expect((await api.get(`${PREFIX}/free`, token)).status).toBe(200)
    expect((await api.get(`${PREFIX}/free`, undefined, { remoteAddress: '10.0.0.9' })).status).toBe(401)
  })

  test('refuse guesses of an exhausted address without a query, and look up what worked before', async () => {
    let queries = 0
    const tokensDb = Object.assign(Object.create(app.db) as typeof app.db, {
      many: (statement: Parameters<typeof app.db.many>[0]) => (queries++, app.db.many(statement)),
    })
    const api = await start({ tokensDb })
    const { token } = await app.given.customer()
    const { token: other } = await app.given.customer()
    expect((await api.get(`${PREFIX}/free`, token)).status).toBe(200)
    for (let i = 0; i < 400; i++) await api.get(`${PREFIX}/free`, newToken('vmk_'))
    expect(queries).toBeLessThan(120)
    app.clock.advance('11s') // longer than the token cache
    for (let i = 0; i < 100; i++) expect((await api.get(`${PREFIX}/free`, newToken('vmk_'))).status).toBe(429)
    expect(queries).toBeLessThan(140)
    expect((await api.get(`${PREFIX}/free`, token)).status).toBe(200)
    app.clock.advance('1s')
    expect((await api.get(`${PREFIX}/free`, other)).status).toBe(200)
  })

  test('count an IPv6 /64 as one address', async () => {
    const api = await start()
    const from = async (remoteAddress: string) => (await api.get('/', undefined, { remoteAddress })).status
    const statuses: number[] = []
    for (let i = 0; i < 250; i++) statuses.push(await from(`2001:db8:1:2:${i.toString(16)}::${i}`))
    expect(statuses.filter((status) => status === 429)).toHaveLength(150)
    expect(await from('2001:db8:1:3::1')).toBe(404)
  })

  test.each([
    ['/56', 400, (i: number) => `2001:db8:5:${(i % 256).toString(16)}::1`],
    ['/48', 1_600, (i: number) => `2001:db8:6:${((i * 257) % 65_536).toString(16)}::1`],
  ])('count the networks of an IPv6 %s together, up to %i', async (_prefix, most, addressOf) => {
    const api = await start()
    let refused = 0
    for (let i = 0; i < most + 50; i++) if ((await api.get('/', undefined, { remoteAddress: addressOf(i) })).status === 429) refused++
    expect(refused).toBe(50)
    expect((await api.get('/', undefined, { remoteAddress: '2001:db8:7::1' })).status).toBe(404)
  })

  test('look up forged tokens of many addresses together', async () => {
    let queries = 0
    const tokensDb = Object.assign(Object.create(app.db) as typeof app.db, {
      many: (statement: Parameters<typeof app.db.many>[0]) => (queries++, app.db.many(statement)),
    })
    const api = await start({ tokensDb })
    const { token } = await app.given.customer()
    const forged = Array.from({ length: 500 }, (_, i) =>
      api.get(`${PREFIX}/free`, newToken('vmk_'), { remoteAddress: `10.0.${i % 2}.${Math.floor(i / 2)}` }),
    )
    expect((await api.get(`${PREFIX}/free`, token)).status).toBe(200)
    expect((await Promise.all(forged)).every(({ status }) => status === 401)).toBe(true)
    expect(queries).toBeLessThan(50)
  })

  test('apply after authentication and before scope, body and path', async () => {
    const api = await start()
    const { token, tokenId } = await app.given.customer({ scopes: ['catalog:read'], requestsPerMinute: 1 })
    const broken = { token, payload: '{', headers: { 'content-type': 'application/json' } }
    expect((await api.send('POST', `${PREFIX}/scoped`, broken)).status).toBe(403)
    expect((await api.send('POST', `${PREFIX}/scoped`, broken)).status).toBe(429)
    expect((await api.get(`${PREFIX}/nothing`, token)).status).toBe(429)
    await app.db.run(sql`update api_tokens set revoked_at = ${app.clock.now()} where id = ${tokenId}`)
    app.clock.advance('11s') // longer than the token cache
    expect((await api.send('POST', `${PREFIX}/scoped`, broken)).status).toBe(401)
  })

  test('trust X-Forwarded-For from trusted proxies only', async () => {
    const headers = (address: string) => ({ headers: { 'x-forwarded-for': address } })
    const direct = await start()
    for (let i = 0; i < 3; i++) await direct.get('/', undefined, headers(`10.9.9.${i}`))
    expect(standing(await direct.get('/'))).toEqual([100, 96, 60])
    const behind = await start({ trustedProxies: ['127.0.0.1', '10.1.0.0/16'] })
    await behind.get('/', undefined, headers('198.18.0.1'))
    expect(standing(await behind.get('/', undefined, headers('198.18.0.1, 10.1.2.3')))).toEqual([100, 98, 60])
    expect(standing(await behind.get('/', undefined, headers('10.6.6.6, 198.18.0.1')))).toEqual([100, 97, 60])
  })

  test('are not charged when the database is unavailable', async () => {
    const limits = rateLimit(postgresCounters(app.db, app.clock))
    const failures = [Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }), unauthorized('Invalid API token')]
    const server = createServer({ ...app.deps, rateLimit: limits, trustedProxies: [] })
    const authenticate = () => Promise.reject(failures.shift()!)
    await mountApi(server, { prefix: PREFIX, authenticate, hasWorked: () => false, rateLimit: limits }, app.deps, () => {})
    const away = await server.inject(`${PREFIX}/x`)
    expect([away.statusCode, away.headers['x-ratelimit-remaining']]).toEqual([503, '100'])
    const wrong = await server.inject(`${PREFIX}/x`)
    expect([wrong.statusCode, wrong.headers['x-ratelimit-remaining']]).toEqual([401, '99'])
    await server.close()
  })

  test('are shared by two processes through the database', async () => {
    const [one, two] = [
      await start({ counters: postgresCounters(app.db, app.clock) }),
      await start({ counters: postgresCounters(app.db, app.clock) }),
    ]
    const { token } = await app.given.customer({ requestsPerMinute: 600 })
    // Forty at a time: each count waits for the row's lock behind all others, and one that waits for two seconds fails.
    const statuses: number[] = []
    const client = async (api: typeof one): Promise<void> => {
      for (let i = 0; i < 20; i++) statuses.push((await api.get(`${PREFIX}/free`, token)).status)
    }
    await Promise.all(Array.from({ length: 40 }, (_, i) => client(i % 2 ? one : two)))
    expect(statuses.filter((status) => status === 200)).toHaveLength(600)
    expect(statuses.filter((status) => status === 429)).toHaveLength(200)
  })
})
