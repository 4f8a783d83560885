// Brings a test's product to rest: faults are removed, open actions completed, and every reconciler has run.
import type { ManualClock } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import type { Deps } from '../src/features/deps.ts'
import { reconcilers } from '../src/features/index.ts'
import { checkInvariants, formatFailures } from '../src/invariants/check.ts'
import type { settler } from './run-workflows.ts'

/** Enough for a recovered host to be trusted, for two power syncs, and for work postponed by a minute. */
const ROUNDS = 3
const ROUND = '61s'

/** The first receives host events asynchronously, which a test cannot await. The second removes what the invariants compare. */
const LEFT_OUT = ['vms.host_events', 'events.prune']

export function restMaker(deps: Deps, clock: ManualClock, settle: ReturnType<typeof settler>) {
  const { db } = deps

  const reconcile = async (): Promise<void> => {
    for (const { name, runOnce: pass } of reconcilers) if (!LEFT_OUT.includes(name)) await pass(deps)
  }

  const endTrouble = async (): Promise<void> => {
    await db.run(sql`delete from simulated.faults`)
    await db.run(sql`update simulated.hosts set is_gone = false, is_full = false`)
  }

  const rest = async (): Promise<void> => {
    await endTrouble()
    clock.advance(ROUND) // expires leases of dead workers
    for (let round = 0; round < ROUNDS; round++) {
      await settle()
      clock.advance(ROUND)
      await reconcile()
    }
    await settle()
  }

  /** Throws all violations. `except`: invariants that the test violates on purpose. */
  const requireInvariants = async (except: string[] = []): Promise<void> => {
    const broken = (await checkInvariants(deps)).filter(({ invariant }) => !except.includes(invariant))
    if (broken.length > 0) throw new Error(`Not as promised:\n${formatFailures(broken)}`)
  }

  return { reconcile, rest, requireInvariants }
}
