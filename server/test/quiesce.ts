// Brings a test's product to rest: trouble ends, what was asked for is carried out, and every reconciler has had its turns.
import type { ManualClock } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import type { Deps } from '../src/features/deps.ts'
import { reconcilers } from '../src/features/index.ts'
import { checkInvariants, formatFailures } from '../src/invariants/check.ts'
import type { settler } from './run-workflows.ts'

/** Enough for a host that came back to be trusted, for two looks at a VM, and for what was put off by a minute. */
const ROUNDS = 5
const ROUND = '31s'

/** Hears events whenever they come, which no test can wait for. */
const ON_ITS_OWN = 'vms.hints'

export function restMaker(deps: Deps, clock: ManualClock, settle: ReturnType<typeof settler>) {
  const { db } = deps

  const reconcile = async (): Promise<void> => {
    for (const { name, runOnce: pass } of reconcilers) if (name !== ON_ITS_OWN) await pass(deps)
  }

  const endTrouble = async (): Promise<void> => {
    await db.run(sql`delete from simulated.faults`)
    await db.run(sql`update simulated.hosts set is_gone = false, is_full = false`)
  }

  const rest = async (): Promise<void> => {
    await endTrouble()
    clock.advance(ROUND) // what a dead worker held is free again
    for (let round = 0; round < ROUNDS; round++) {
      await settle()
      clock.advance(ROUND)
      await reconcile()
    }
    await settle()
  }

  /** Throws with everything that is not as promised. `except`: what the test itself broke on purpose. */
  const requireInvariants = async (except: string[] = []): Promise<void> => {
    const broken = (await checkInvariants(deps)).filter(({ invariant }) => !except.includes(invariant))
    if (broken.length > 0) throw new Error(`Not as promised:\n${formatFailures(broken)}`)
  }

  return { reconcile, rest, requireInvariants }
}
