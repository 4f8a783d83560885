// /healthz: the process is alive. /readyz: it can serve (database, schema, not draining). Neither is rate limited, so answers are
// shared for a second; both respond while the database does not.
import type { FastifyInstance } from 'fastify'
import { stopwatch, withTimeout } from '../../kernel/clock.ts'
import { sql, type Db } from '../../kernel/database/db.ts'
import { missingMigration, unknownContract } from '../../kernel/database/migrate.ts'
import { UNLIMITED_HEADERS } from '../api/rate-limit.ts'

export interface Health {
  /** From now on /readyz returns 503, so that load balancers send no new traffic. */
  drain(): void
  isDraining(): boolean
  /** Adds a check that returns what is wrong, or null. The result is public, so error details are not shown. */
  check(name: string, look: () => Promise<string | null>): void
  /** All checks by name: `ok`, or what is wrong. */
  runChecks(): Promise<[name: string, sentence: string][]>
}

/** Health probes time out soon after. */
const ANSWER_MS = 4_000
/** How long the results of the checks are given again. */
const FRESH_MS = 1_000

export function serveHealth(app: FastifyInstance, db: Db, migrations: string): Health {
  let draining = false
  let migrated = false // never false again: this process knows no newer migrations
  const checks = new Map<string, () => Promise<string | null>>()
  checks.set('database', () => db.one(sql`select 1`).then(() => null))
  checks.set('migrations', async () => {
    const missing = migrated ? null : await missingMigration(db, migrations)
    migrated = missing === null
    const contract = migrated ? await unknownContract(db, migrations) : null
    return missing ? `${missing} is missing: run berthd migrate` : contract && `${contract} needs a newer version`
  })

  const askAll = (): Promise<[string, string][]> =>
    Promise.all(
      [...checks].map(async ([name, each]) => [name, (await withTimeout(ANSWER_MS, each()).catch(() => 'cannot be reached')) ?? 'ok']),
    )

  let latest: { ageMs: () => number; results: Promise<[string, string][]> } | undefined
  const runChecks = async (): Promise<[string, string][]> => {
    if (!latest || latest.ageMs() >= FRESH_MS) latest = { ageMs: stopwatch(), results: askAll() }
    return [...(await latest.results), ['process', draining ? 'stopping' : 'ok']]
  }

  // The first look is at the migrations of this process: an upgrade of a package replaces their folder while it runs on.
  app.addHook('onListen', async () => void (await runChecks()))
  app.get('/healthz', async (_, reply) => reply.headers(UNLIMITED_HEADERS).send({ status: 'ok' }))
  app.get('/readyz', async (_, reply) => {
    const results: [string, string][] = draining ? [['process', 'stopping']] : await runChecks()
    const ready = results.every(([, result]) => result === 'ok')
    const answer = { status: ready ? 'ready' : 'not ready', checks: Object.fromEntries(results) }
    return reply
      .code(ready ? 200 : 503)
      .headers(UNLIMITED_HEADERS)
      .send(answer)
  })
  return {
    drain: () => void (draining = true),
    isDraining: () => draining,
    check: (name, each) => void checks.set(name, each),
    runChecks,
  }
}
