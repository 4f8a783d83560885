// Checks the invariants of a running installation: a violation that a reconciler repairs is reported only when it lasts.
import { parseDurationMs, stopwatch } from '../kernel/clock.ts'
import { sql } from '../kernel/database/db.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { checkInvariants, type FailedInvariant, type CheckDeps } from './check.ts'
import { invariants } from './index.ts'
import type { Violation } from './invariant.ts'

export interface WatchDeps extends CheckDeps {
  metrics: Metrics
}

/** How far back ledger and journal are checked: each row is checked about 500 times. */
const LOOK_BACK_MS = 2 * 86_400_000
const MAX_LOGGED = 20
/** So many times as long as a check took is the pause after it: of a large fleet it takes a minute. */
export const REST_AFTER_CHECK = 100

const settleMs = new Map(invariants.map(({ name, settle }) => [name, parseDurationMs(settle)]))

/** Keeps since when each violation exists; a restarted worker starts counting again. */
export function createInvariantMonitor(restAfterCheck = REST_AFTER_CHECK): (deps: WatchDeps, stopping?: AbortSignal) => Promise<void> {
  let before = new Map<string, Date>()
  let restsUntil = 0
  return async (deps, stopping) => {
    const now = deps.clock.now()
    if (now.getTime() < restsUntil) return
    const elapsed = stopwatch()
    const seen = new Map<string, Date>()
    const lasts = (invariant: string, { id }: Violation): boolean => {
      const key = `${invariant} ${id}`
      const since = before.get(key) ?? now
      seen.set(key, since)
      return now.getTime() - since.getTime() >= (settleMs.get(invariant) ?? 0)
    }
    const broken = (await checkInvariants(deps, new Date(now.getTime() - LOOK_BACK_MS), stopping)).map((each) => ({
      ...each,
      violations: each.violations.filter((violation) => lasts(each.invariant, violation)),
    }))
    before = seen
    await report(
      deps,
      broken.filter(({ violations }) => violations.length > 0),
    )
    restsUntil = now.getTime() + elapsed() * restAfterCheck
  }
}

async function report({ db, metrics, log }: WatchDeps, broken: FailedInvariant[]): Promise<void> {
  const counts = new Map(broken.map(({ invariant, violations }) => [invariant, violations.length]))
  for (const { name } of invariants) metrics.violations.set({ invariant: name }, counts.get(name) ?? 0)
  for (const { invariant, statement, violations } of broken) {
    log.error({ invariant, statement, count: violations.length, violations: violations.slice(0, MAX_LOGGED) }, 'invariant violated')
  }
  const total = broken.reduce((sum, { violations }) => sum + violations.length, 0)
  await db.run(sql`insert into invariant_status (violations) values (${total}) on conflict (is_only) do update set violations = ${total}`)
}
