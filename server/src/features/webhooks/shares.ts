// Who may send how much at the same moment. Receivers that fail share a part of the room among themselves, and no receiver and no
// account can take it all, so that one that hangs slows nobody else.
import type { Claim, Lane, Share } from './queue-sql.ts'

const ALL = 256
const FAILING = 96
const PER_ACCOUNT = 24
const PER_RECEIVER = 8
const PER_FAILING_RECEIVER = 2

/** One each, then another one each: what is scarce is dealt out evenly. Lanes that come first are served first. */
export function shareOut(lanes: Lane[], inFlight: Iterable<Claim>): Share[] {
  const counts = new Map<string, number>()
  const places = (lane: Pick<Lane, 'webhook_id' | 'account_id' | 'failing'>): [string, number][] => [
    ['all', ALL],
    ...(lane.failing ? [['failing', FAILING] as [string, number]] : []),
    [lane.account_id, PER_ACCOUNT],
    [lane.webhook_id, lane.failing ? PER_FAILING_RECEIVER : PER_RECEIVER],
  ]
  const take = (lane: Pick<Lane, 'webhook_id' | 'account_id' | 'failing'>): void =>
    places(lane).forEach(([place]) => counts.set(place, (counts.get(place) ?? 0) + 1))
  const hasRoom = (lane: Lane): boolean => places(lane).every(([place, most]) => (counts.get(place) ?? 0) < most)

  for (const claim of inFlight) take(claim)
  const shares = new Map<string, number>()
  for (let waiting = lanes; waiting.length > 0;) {
    waiting = waiting.filter(hasRoom)
    for (const lane of waiting) {
      if (!hasRoom(lane)) continue
      take(lane)
      shares.set(lane.webhook_id, (shares.get(lane.webhook_id) ?? 0) + 1)
    }
  }
  return [...shares].map(([webhookId, count]) => ({ webhookId, count }))
}
