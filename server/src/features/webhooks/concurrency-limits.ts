// Concurrency limits of deliveries. Failing and slow receivers share a fixed part of the slots, and each receiver and account is capped:
// a hanging receiver delays no other, not even those of its own account.
import type { Claim, Lane, Share } from './delivery-queue.sql.ts'

const ALL = 512
const SLOW_RECEIVERS = 192
const PER_ACCOUNT = 56
const FRESH_PER_ACCOUNT = 32
const DOUBTFUL_PER_ACCOUNT = 24
const PER_RECEIVER = 8
const PER_FAILING_RECEIVER = 2
/** An attempt older than this no longer counts against its account; it takes a slot of the failing and slow receivers instead. */
export const SLOW_MS = 200

type Receiver = Pick<Lane, 'webhook_id' | 'account_id' | 'failing'>
type Place = [name: string, most: number]

function placesOf({ webhook_id, account_id, failing }: Receiver, doubtful: boolean): Place[] {
  const fresh: Place[] = [[`fresh of ${account_id}`, FRESH_PER_ACCOUNT]]
  const apart: Place[] = [
    ['doubtful', SLOW_RECEIVERS],
    [`doubtful of ${account_id}`, DOUBTFUL_PER_ACCOUNT],
  ]
  const own: Place = [webhook_id, failing ? PER_FAILING_RECEIVER : PER_RECEIVER]
  return [['all', ALL], [account_id, PER_ACCOUNT], ...(doubtful ? apart : fresh), own]
}

/** Round-robin, one slot per lane and round, so that scarce slots are shared evenly. Earlier lanes are served first. */
export function allocateSlots(lanes: Lane[], inFlight: Iterable<Claim>, isSlow: (claim: Claim) => boolean): Share[] {
  const counts = new Map<string, number>()
  const take = (places: Place[]): void => places.forEach(([place]) => counts.set(place, (counts.get(place) ?? 0) + 1))
  const isFree = ([place, most]: Place): boolean => (counts.get(place) ?? 0) < most

  const slow = new Set<string>()
  for (const claim of inFlight) {
    if (isSlow(claim)) slow.add(claim.webhook_id)
    take(placesOf(claim, claim.failing || isSlow(claim)))
  }
  const shares = new Map<string, number>()
  let waiting = lanes.map((lane) => ({ id: lane.webhook_id, places: placesOf(lane, lane.failing || slow.has(lane.webhook_id)) }))
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
