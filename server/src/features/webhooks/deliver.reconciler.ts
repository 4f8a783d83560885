// Sends due deliveries. A run claims as many as there are free slots and awaits none: attempts run concurrently, results are written in
// batches, and freed slots are filled at once; what the pace of its host holds back is due again in the next run. The claims of a crashed worker expire after 25 seconds.
import { createBatchWriter } from '../../kernel/batch-writer.ts'
import { sleep, stopwatch, systemClock } from '../../kernel/clock.ts'
import type { Opened, Reconciler } from '../../workflow/reconciler-loop.ts'
import type { Deps } from '../deps.ts'
import { DELIVER } from './fan-out.ts'
import { bodyOf, openSecrets, send } from './message.ts'
import * as queue from './delivery-queue.sql.ts'
import { claimedUntil, givenUpSince } from './schedule.ts'
import { recordAttempts, type FinishedAttempt } from './record-attempts.ts'
import { allocateSlots, createPacer, SLOW_MS, targetOf } from './concurrency-limits.ts'
import { cancelPending } from './sql.ts'

const LANES_PER_PASS = 1_000
/** How long a stopping worker waits for attempts in flight. Then it releases their claims, and another worker sends them again. */
const GRACE_MS = 1_000

export interface Deliveries extends Opened {
  /** Returns the number of started attempts. */
  runOnce(): Promise<number>
  inFlight(): number
  /** Resolves when no attempt is in flight and all results are written. */
  landed(): Promise<unknown>
}

export function openDeliveries(deps: Deps, again: () => void): Deliveries {
  const { db, clock, log, metrics } = deps
  const flights = new Map<queue.Claim, { ended: Promise<void>; elapsed: () => number }>()
  const pacer = createPacer(() => clock.now().getTime())
  let slowSoon: NodeJS.Timeout | undefined
  const stopping = new AbortController()
  let isClosed = false
  const write = createBatchWriter<FinishedAttempt>((batch, isRepeat) => recordAttempts(deps, batch, isRepeat), {
    tries: 5,
    pauseMs: 1_000,
    onError: (error) => log.warn({ err: error }, 'recording webhook attempts failed; will retry'),
  })

  const fly = async (claim: queue.Claim): Promise<void> => {
    const sentAt = systemClock.now() // real time: receivers compare it with their own clocks, even where the test clock was moved
    const sent = await attempt(deps, claim, sentAt, stopping.signal)
    metrics.outbound.observe({ outcome: sent.problem ? 'failed' : 'ok' }, sent.latencyMs / 1000)
    if (sent.problem && stopping.signal.aborted) await queue.releaseClaim(db, claim.id, claim.claims)
    else await write({ claim, sent, sentAt })
  }
  const takeOff = (claim: queue.Claim): void => {
    const target = targetOf(claim)
    if (target !== null) pacer.spend(target)
    const elapsed = stopwatch()
    const ended = fly(claim)
      .catch((error: unknown) => log.warn({ err: error, delivery: claim.id }, 'webhook attempt crashed; retrying after claim expiry'))
      .finally(() => {
        flights.delete(claim)
        again()
      })
    flights.set(claim, { ended, elapsed })
  }
  const landed = (): Promise<unknown> => Promise.all([...flights.values()].map(({ ended }) => ended))
  return {
    async runOnce() {
      if (isClosed) return 0
      const lanes = await dueLanes(deps)
      const shares = allocateSlots(lanes, flights.keys(), (claim) => flights.get(claim)!.elapsed() >= SLOW_MS, pacer.left)
      if (shares.length === 0) return 0
      const now = clock.now()
      const claims = await queue.claimDue(db, shares, now, claimedUntil(now), givenUpSince(now))
      claims.forEach(takeOff)
      clearTimeout(slowSoon)
      slowSoon = setTimeout(again, SLOW_MS).unref() // frees the slots of attempts that are slow by then
      return claims.length
    },
    inFlight: () => flights.size,
    landed,
    async stop() {
      isClosed = true
      clearTimeout(slowSoon)
      await Promise.race([landed(), sleep(GRACE_MS)])
      stopping.abort()
      await Promise.race([landed(), sleep(GRACE_MS)])
    },
  }
}

/** Cancels deliveries that were inserted while their subscription was being disabled. */
async function dueLanes({ db, clock }: Deps): Promise<queue.Lane[]> {
  const lanes = await queue.dueLanes(db, clock.now(), LANES_PER_PASS)
  const off = lanes.filter((lane) => !lane.is_active).map((lane) => lane.webhook_id)
  if (off.length > 0) await db.tx((tx) => cancelPending(tx, off, clock.now()))
  return lanes.filter((lane) => lane.is_active)
}

function attempt({ outbound, vault }: Deps, claim: queue.Claim, sentAt: Date, signal: AbortSignal) {
  const { id, url, webhook_id: webhookId, secret, previous_secret: previous } = claim
  const body = bodyOf({ id: claim.event_id, type: claim.type, happenedAt: claim.happened_at, data: claim.data })
  return send(outbound, { id, url, secrets: openSecrets(vault, { webhookId, secret, previous }), body, sentAt }, signal)
}

export async function deliverAllDue(deps: Deps): Promise<void> {
  const deliveries = openDeliveries(deps, () => {})
  while ((await deliveries.runOnce()) > 0) await deliveries.landed()
  await deliveries.stop()
}

export const deliverWebhooks: Reconciler<Deps> = { name: DELIVER, everyMs: 1_000, open: openDeliveries, runOnce: deliverAllDue }
