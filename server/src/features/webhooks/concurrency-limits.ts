// Concurrency limits of deliveries. Failing and slow receivers share a fixed part of the slots, and each receiver and payer is capped:
// a hanging receiver delays no other, not even those with its own payer. What a payer sends to one host is capped and paced too, because
// the host may be a stranger's, who asked for nothing. All limits are those of one process.
import { isIP } from 'node:net'
import { hostOf, isPublicAddress } from '../../kernel/net/url-policy.ts'
import type { Claim, Lane, Share } from './delivery-queue.sql.ts'

const ALL = 512
const SLOW_RECEIVERS = 192
const PER_PAYER = 56
const FRESH_PER_PAYER = 32
const DOUBTFUL_PER_PAYER = 24
const PER_RECEIVER = 8
const PER_FAILING_RECEIVER = 2
const PER_TARGET = 16
const PACE_MS = 100
const PACE_BURST = 60
const SWEEP_EVERY = 10_000
/** An attempt older than this no longer counts against its payer; it takes a slot of the failing and slow receivers instead. */
export const SLOW_MS = 200

type Receiver = Pick<Lane, 'webhook_id' | 'payer_id' | 'failing' | 'url'>
type Place = [name: string, most: number]

type Addressed = Pick<Lane, 'payer_id' | 'url'>

/** Every pass asks for those of all attempts in flight. */
const targets = new WeakMap<Addressed, string | null>()

/** Payer and host; null for an address that is not public, which only development allows. */
export function targetOf(receiver: Addressed): string | null {
  const known = targets.get(receiver)
  if (known !== undefined) return known
  const host = hostOf(new URL(receiver.url))
  const target = isIP(host) !== 0 && !isPublicAddress(host) ? null : `${receiver.payer_id} to ${host}`
  targets.set(receiver, target)
  return target
}

export interface Pacer {
  /** How many may be sent to the target now. */
  left(target: string): number
  spend(target: string): void
}

/** A token bucket per target, stored as the time at which it is full again. */
export function createPacer(now: () => number): Pacer {
  const fullAt = new Map<string, number>()
  let spent = 0
  const missingMs = (target: string): number => Math.max(0, (fullAt.get(target) ?? 0) - now())
  const sweep = (): void => fullAt.forEach((time, target) => time <= now() && fullAt.delete(target))
  return {
    left: (target) => Math.floor(PACE_BURST - missingMs(target) / PACE_MS),
    spend(target) {
      if (++spent % SWEEP_EVERY === 0) sweep()
      fullAt.set(target, now() + missingMs(target) + PACE_MS)
    },
  }
}

function placesOf(receiver: Receiver, doubtful: boolean): Place[] {
  const { webhook_id, payer_id, failing } = receiver
  const target = targetOf(receiver)
  const fresh: Place[] = [[`fresh of ${payer_id}`, FRESH_PER_PAYER]]
  const apart: Place[] = [
    ['doubtful', SLOW_RECEIVERS],
    [`doubtful of ${payer_id}`, DOUBTFUL_PER_PAYER],
  ]
  const own: Place = [webhook_id, failing ? PER_FAILING_RECEIVER : PER_RECEIVER]
  return [
    ['all', ALL],
    [payer_id, PER_PAYER],
    ...(doubtful ? apart : fresh),
    ...(target === null ? [] : [[target, PER_TARGET] as Place]),
    own,
  ]
}

/** Round-robin, one slot per lane and round, so that scarce slots are shared evenly. Earlier lanes are served first. */
export function allocateSlots(
  lanes: Lane[],
  inFlight: Iterable<Claim>,
  isSlow: (claim: Claim) => boolean,
  paceLeft: Pacer['left'],
): Share[] {
  const counts = new Map<string, number>()
  const take = (places: Place[]): void => places.forEach(([place]) => counts.set(place, (counts.get(place) ?? 0) + 1))
  const isFree = ([place, most]: Place): boolean => (counts.get(place) ?? 0) < most

  const slow = new Set<string>()
  for (const claim of inFlight) {
    if (isSlow(claim)) slow.add(claim.webhook_id)
    take(placesOf(claim, claim.failing || isSlow(claim)))
  }
  const shares = new Map<string, number>()
  const paceOf = (target: string | null): Place[] => (target === null ? [] : [[`pace of ${target}`, paceLeft(target)]])
  let waiting = lanes.map((lane) => ({
    id: lane.webhook_id,
    places: [...placesOf(lane, lane.failing || slow.has(lane.webhook_id)), ...paceOf(targetOf(lane))],
  }))
  while (waiting.length > 0) {
    waiting = waiting.filter((lane) => lane.places.every(isFree))
    for (const lane of waiting) {
      if (!lane.places.every(isFree)) continue
      take(lane.places)
      shares.set(lane.id, (shares.get(lane.id) ?? 0) + 1)
    }
  }
  return [...shares].map(([webhookId, count]) => ({ webhookId, count }))
}
