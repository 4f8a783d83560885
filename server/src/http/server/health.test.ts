import { expect, test } from 'vitest'
import { testDatabase } from '../../../test/harness.ts'
import { silentProxy } from '../../../test/silent-proxy.ts'
import { MIGRATIONS } from '../../database.ts'
import { memoryCounters, postgresCounters, withFallback } from '../../kernel/database/window-counters.ts'
import { stopwatch } from '../../kernel/clock.ts'
import { openDb, sql } from '../../kernel/database/db.ts'
import { createLog } from '../../kernel/log.ts'
import { createMetrics } from '../../kernel/metrics.ts'
import { serveHealth } from './health.ts'
import { rateLimit, UNLIMITED_HEADERS } from '../api/rate-limit.ts'
import { createServer } from './server.ts'

const serve = (db: ReturnType<typeof openDb>, counters = memoryCounters()) => {
  const log = createLog({ level: 'silent', pretty: false })
  const app = createServer({ log, metrics: createMetrics(), rateLimit: rateLimit(counters), trustedProxies: [] })
  return { app, health: serveHealth(app, db, MIGRATIONS) }
}

test('/readyz asks at most once a second, however often it is asked, and knows at once that the process stops', async () => {
  const db = openDb({ url: await testDatabase(), maxConnections: 4, onError: () => {} })
  const { app, health } = serve(db)
  let questions = 0
  health.check('counted', async () => (questions++, null))
  const age = stopwatch()
  for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 20 }, () => app.inject('/readyz')))
  expect(questions).toBeLessThanOrEqual(1 + Math.floor(age() / 1000))
  const before = questions
  await expect.poll(async () => (await app.inject('/readyz'), questions)).toBeGreaterThan(before)
  health.drain()
  expect((await app.inject('/readyz')).json()).toMatchObject({ status: 'not ready', checks: { process: 'stopping' } })
  await app.close()
  await db.close()
})

test('/readyz says that a newer version has removed what this one uses', async () => {
  const db = openDb({ url: await testDatabase(), maxConnections: 4, onError: () => {} })
  const { app } = serve(db)
  expect((await app.inject('/readyz')).statusCode).toBe(200)
  await db.run(sql`insert into schema_migrations (name, checksum) values ('9998_add', 'x'), ('9999_contract_notes', 'x')`)
  const ready = async () => (await app.inject('/readyz')).json<object>()
  await expect.poll(ready).toMatchObject({ status: 'not ready', checks: { migrations: '9999_contract_notes needs a newer version' } })
  await app.close()
  await db.close()
})

test('/healthz is up and /readyz names the database while PostgreSQL is unresponsive', async () => {
  const proxy = await silentProxy(await testDatabase())
  const db = openDb({ url: proxy.url, maxConnections: 4, onError: () => {}, unresponsiveMs: 6_000 })
  let fallbacks = 0
  const { app } = serve(
    db,
    withFallback(postgresCounters(db), memoryCounters(), () => fallbacks++),
  )
  app.get('/asks', async (_, reply) => reply.headers(UNLIMITED_HEADERS).send(await db.one(sql`select 1`)))
  expect((await app.inject('/readyz')).statusCode).toBe(200)
  proxy.silence()
  const asked = app.inject('/asks')
  const alive = await app.inject('/healthz')
  expect([alive.statusCode, fallbacks]).toEqual([200, 0])
  const ready = async () => (await app.inject('/readyz')).json<object>()
  await expect.poll(ready).toMatchObject({ status: 'not ready', checks: { database: 'cannot be reached' } })
  expect((await app.inject('/readyz')).statusCode).toBe(503)
  const limited = await app.inject('/unknown')
  expect([limited.statusCode, limited.headers['x-ratelimit-remaining'], fallbacks]).toEqual([404, '99', 1])
  expect([(await asked).statusCode, (await asked).headers['x-error-code']]).toEqual([503, 'service_unavailable'])
  proxy.close()
  await app.close()
  await db.close()
})
