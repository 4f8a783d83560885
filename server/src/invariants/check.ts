// Asks all questions. A single look is enough where everything rests; the watch of a running product takes its time.
import type { Clock } from '../kernel/clock.ts'
import type { Db } from '../kernel/db.ts'
import { invariants } from './index.ts'
import type { Violation } from './invariant.ts'
import { noteInventories, type InventoryDeps } from './inventory.ts'

export interface CheckDeps extends InventoryDeps {
  db: Db
  clock: Clock
}

export interface Broken {
  invariant: string
  promise: string
  violations: Violation[]
}

/** Everything that is not as promised at this moment, however fresh. `since`: how far back what only grows is looked at. */
export const checkInvariants = (deps: CheckDeps, since: Date = new Date(0), stopping?: AbortSignal): Promise<Broken[]> =>
  deps.db.tx(async (tx) => {
    const context = { db: tx, now: deps.clock.now(), since, hosts: await noteInventories(tx, deps, stopping) }
    const broken: Broken[] = []
    for (const { name, promise, find } of invariants) {
      stopping?.throwIfAborted()
      const violations = await find(context)
      if (violations.length > 0) broken.push({ invariant: name, promise, violations })
    }
    return broken
  })

const MOST_SHOWN = 10

export const describeBroken = (broken: Broken[]): string => broken.map(describeOne).join('\n')

function describeOne({ invariant, promise, violations }: Broken): string {
  const shown = violations.slice(0, MOST_SHOWN).map(({ id, what }) => `  ${id}: ${what}`)
  const more = violations.length > MOST_SHOWN ? [`  and ${violations.length - MOST_SHOWN} more`] : []
  return [`${invariant}: ${promise}, but`, ...shown, ...more].join('\n')
}
