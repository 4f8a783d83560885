// Asks all questions. A single look is enough where everything rests; the watch of a running product takes its time.
import type { Clock } from '../kernel/clock.ts'
import { invariants } from './index.ts'
import type { Violation } from './invariant.ts'
import { readInventories, type InventoryDeps } from './inventory.ts'

export interface CheckDeps extends InventoryDeps {
  clock: Clock
}

export interface Broken {
  invariant: string
  promise: string
  violations: Violation[]
}

/** Everything that is not as promised at this moment, however fresh. `since`: how far back what only grows is looked at. */
export async function checkInvariants(deps: CheckDeps, since: Date = new Date(0)): Promise<Broken[]> {
  const context = { db: deps.db, now: deps.clock.now(), since, hosts: await readInventories(deps) }
  const broken: Broken[] = []
  for (const { name, promise, find } of invariants) {
    const violations = await find(context)
    if (violations.length > 0) broken.push({ invariant: name, promise, violations })
  }
  return broken
}

export const describeBroken = (broken: Broken[]): string =>
  broken
    .map(({ invariant, promise, violations }) =>
      [`${invariant}: ${promise}, but`, ...violations.map(({ id, what }) => `  ${id}: ${what}`)].join('\n'),
    )
    .join('\n')
