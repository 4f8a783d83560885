import { expect, test } from 'vitest'
import { testDatabase } from '../../../test/harness.ts'
import { silentProxy } from '../../../test/silent-proxy.ts'
import { MIGRATIONS } from '../../database.ts'
import { memoryCounters, postgresCounters, withFallback } from '../../kernel/database/window-counters.ts'
import { openDb, sql } from '../../kernel/database/db.ts'
import { createLog } from '../../kernel/log.ts'
import { createMetrics } from '../../kernel/metrics.ts'
import { serveHealth } from './health.ts'
import { rateLimit, UNLIMITED_HEADERS } from '../api/rate-limit.ts'
import { createServer } from './server.ts'

test('/healthz is up and /readyz names the database while PostgreSQL is unresponsive', async () => {
  const proxy = await silentProxy(await testDatabase())
  const db = openDb({ url: proxy.url, maxConnections: 4, onError: () => {}, unresponsiveMs: 6_000 })
  const log = createLog({ level: 'silent', pretty: false })
  let fallbacks = 0
  const counters = withFallback(postgresCounters(db), memoryCounters(), () => fallbacks++)
  const app = createServer({ log, metrics: createMetrics(), rateLimit: rateLimit(counters), trustedProxies: [] })
  serveHealth(app, db, MIGRATIONS)
  app.get('/asks', async (_, reply) => reply.headers(UNLIMITED_HEADERS).send(await db.one(sql`select 1`)))
  expect((await app.inject('/readyz')).statusCode).toBe(200)
  proxy.silence()
  const asked = app.inject('/asks')
  const alive = await app.inject('/healthz')
  expect([alive.statusCode, fallbacks]).toEqual([200, 0])
  const ready = await app.inject('/readyz')
  expect([ready.statusCode, ready.json()]).toMatchObject([503, { checks: { database: 'cannot be reached' } }])
  const limited = await app.inject('/unknown')
  expect([limited.statusCode, limited.headers['x-ratelimit-remaining'], fallbacks]).toEqual([404, '99', 1])
  expect([(await asked).statusCode, (await asked).headers['x-error-code']]).toEqual([503, 'service_unavailable'])
  proxy.close()
  await app.close()
  await db.close()
})
