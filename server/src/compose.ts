// The only file that constructs long-lived things and knows all of them. A process is an API, a worker, or both.
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { openTokens } from './features/accounts/tokens.ts'
import type { Deps } from './features/deps.ts'
import { reconcilers, routes, workflows } from './features/index.ts'
import type { Operation } from './http/api.ts'
import { serveDocs } from './http/docs.ts'
import { serveHealth } from './http/health.ts'
import { rateLimit } from './http/rate-limit.ts'
import { createServer, mountApi } from './http/server.ts'
import { systemClock, type Clock } from './kernel/clock.ts'
import { memoryCounters, postgresCounters, redisCounters, withFallback, type Counters } from './kernel/counters.ts'
import { openVault } from './kernel/crypto.ts'
import { openDb, type Db } from './kernel/db.ts'
import type { Log } from './kernel/log.ts'
import { createMetrics, type Metrics } from './kernel/metrics.ts'
import { startEngine, type WorkflowEngine } from './workflow/engine.ts'
import { startReconcilers } from './workflow/reconcile.ts'

export const MIGRATIONS = join(import.meta.dirname, '../migrations')
export const PUBLIC_PREFIX = '/api/public/v1'

export interface Core {
  deps: Deps
  engine: WorkflowEngine
  close(): Promise<void>
}

/** Database, secrets and the engine: what every kind of process has. */
export async function openCore(config: Config, url: string, log: Log, options: { worker: boolean; clock?: Clock }): Promise<Core> {
  const clock = options.clock ?? systemClock
  const metrics = createMetrics()
  const db = openDb({
    url,
    maxConnections: config.databaseConnections,
    onError: (error) => log.warn({ err: error }, 'database connection'),
  })
  const engine = await startEngine({ db, clock, log, metrics }, { workflows, supervise: options.worker })
  const deps: Deps = { config, db, clock, log, metrics, vault: openVault(config.masterKeyFile), workflows: engine }
  return {
    deps,
    engine,
    async close() {
      await engine.stop(config.drainSeconds * 1000)
      await db.close()
    },
  }
}

export interface ApiProcess {
  app: FastifyInstance
  operations: Operation[]
  close(): Promise<void>
}

/** `alone`: no other process counts requests, so memory is exact. */
export async function openApi({ deps }: Core, options: { alone: boolean }): Promise<ApiProcess> {
  const { config, db, clock, log, metrics } = deps
  const counters = await openCounters(config, db, clock, log, metrics, options.alone)
  const limits = rateLimit(counters)
  const tokens = await openTokens(db, clock)
  const app = createServer({ log, metrics, rateLimit: limits, trustedProxies: config.trustedProxies })
  const health = serveHealth(app, db, MIGRATIONS)
  const mount = { prefix: PUBLIC_PREFIX, authenticate: tokens.authenticate, rateLimit: limits }
  const operations = await mountApi(app, mount, deps, (api) => routes.forEach((each) => each(api, deps)))
  await serveDocs(app, { prefix: PUBLIC_PREFIX, operations, rateLimit: limits })
  const flushing = setInterval(
    () => void tokens.flush().catch((error: unknown) => log.warn({ err: error }, 'token uses not written')),
    10_000,
  )
  return {
    app,
    operations,
    async close() {
      health.drain()
      clearInterval(flushing)
      await app.close()
      await tokens.close()
      await counters.close()
    },
  }
}

async function openCounters(config: Config, db: Db, clock: Clock, log: Log, metrics: Metrics, alone: boolean): Promise<Counters> {
  if (alone && !config.redisUrl) return memoryCounters(clock)
  const shared = config.redisUrl
    ? await redisCounters(config.redisUrl, (error) => log.debug({ err: error }, 'redis'))
    : postgresCounters(db, clock)
  return withFallback(shared, memoryCounters(clock), () => metrics.limiterFallbacks.inc())
}

/** Carries out workflows and runs the reconcilers. */
export async function openWorker({ deps, engine }: Core): Promise<{ close(): Promise<void> }> {
  await engine.work(deps, deps.config.workerConcurrency)
  const loops = startReconcilers(deps, [...reconcilers, { name: 'workflow.rescue', everyMs: 5_000, pass: () => engine.rescue() }])
  return { close: () => loops.stop() }
}
