// Turns of payers with long filters. All hosts of a region work on a changed filter as a whole, and meanwhile on nobody else's change: a payer
// has one under way at a time, and then waits as long as that took. What its VMs share is one filter. For all lanes of this process.
import { stopwatch } from '../../../kernel/clock.ts'

/** Lines: less costs about as much as any change. */
export const LONG = 100
const LONGEST_REST_MS = 10_000

interface LongFilter {
  vm_id: string
  payer_id: string
  /** In their order. */
  firewalls: string
}

interface Turn {
  look: symbol
  firewalls: string
  open: number
  /** Milliseconds since it began. */
  elapsed: () => number
}

const turns = new Map<string, Turn>()

/** `look`: those that are picked at once apply the same rules. */
export function mayBegin(look: symbol, { payer_id, firewalls }: LongFilter): boolean {
  const turn = turns.get(payer_id)
  return !turn || (turn.open > 0 && turn.look === look && turn.firewalls === firewalls)
}

export function begin(look: symbol, { payer_id, firewalls }: LongFilter): void {
  const turn = turns.get(payer_id)
  if (turn) turn.open++
  else turns.set(payer_id, { look, firewalls, open: 1, elapsed: stopwatch() })
}

export function end({ payer_id }: LongFilter): void {
  const turn = turns.get(payer_id)!
  if (--turn.open === 0) setTimeout(() => turns.delete(payer_id), Math.min(turn.elapsed(), LONGEST_REST_MS)).unref()
}
