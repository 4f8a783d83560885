// Runs all checks once, as tests do. The monitor of a running installation also waits for violations to last.
import type { Clock } from '../kernel/clock.ts'
import type { Db } from '../kernel/database/db.ts'
import { invariants } from './index.ts'
import type { Violation } from './invariant.ts'
import { loadInventories, type InventoryDeps } from './inventory.ts'

export interface CheckDeps extends InventoryDeps {
  db: Db
  clock: Clock
}

export interface FailedInvariant {
  invariant: string
  statement: string
  violations: Violation[]
}

/** All violations at this moment. `since`: append-only tables are checked from here on. */
export const checkInvariants = (deps: CheckDeps, since: Date = new Date(0), stopping?: AbortSignal): Promise<FailedInvariant[]> =>
  deps.db.tx(async (tx) => {
    const context = { db: tx, now: deps.clock.now(), since, ...(await loadInventories(tx, deps, stopping)) }
    const violated: FailedInvariant[] = []
    for (const { name, statement, find } of invariants) {
      stopping?.throwIfAborted()
      const violations = await find(context)
      if (violations.length > 0) violated.push({ invariant: name, statement, violations })
    }
    return violated
  })

const MAX_SHOWN = 10

export const formatFailures = (broken: FailedInvariant[]): string => broken.map(describeOne).join('\n')

function describeOne({ invariant, statement, violations }: FailedInvariant): string {
  const shown = violations.slice(0, MAX_SHOWN).map(({ id, what }) => `  ${id}: ${what}`)
  const more = violations.length > MAX_SHOWN ? [`  and ${violations.length - MAX_SHOWN} more`] : []
  return [`${invariant}: ${statement}, but`, ...shown, ...more].join('\n')
}
