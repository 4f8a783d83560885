// Retry schedule of a failed delivery: over 27 hours, so that a receiver may be down for a day without losing events.
import { addDuration, parseDurationMs } from '../../kernel/clock.ts'

/** Delays after the first failed attempt, the second, and so on; the eighth attempt is the last. */
const WAITS = ['5s', '5m', '30m', '2h', '5h', '10h', '10h']
export const MAX_ATTEMPTS = WAITS.length + 1
const SPREAD = 0.2
/** Upper limit of Retry-After. */
const MAX_WAIT_MS = parseDurationMs('24h')

/** Null after the last attempt. Jitter spreads the retries of deliveries that failed together. */
export function nextAttemptAt(now: Date, failedAttempts: number, retryAfter: string | null): Date | null {
  const wait = WAITS[failedAttempts - 1]
  if (!wait) return null
  const spread = 1 - SPREAD + Math.random() * 2 * SPREAD
  const ownMs = parseDurationMs(wait) * spread
  return new Date(now.getTime() + Math.max(ownMs, Math.min(askedMs(now, retryAfter), MAX_WAIT_MS)))
}

/** Retry-After is a number of seconds or an HTTP date; anything else is ignored. */
function askedMs(now: Date, retryAfter: string | null): number {
  if (retryAfter === null) return 0
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000
  const date = Date.parse(retryAfter)
  return Number.isNaN(date) ? 0 : date - now.getTime()
}

export const FAILURES_TO_DISABLE = 10
/** A receiver without success since then, and with enough failures, is disabled. */
export const givenUpSince = (now: Date): Date => new Date(now.getTime() - parseDurationMs('5d'))

/** Longer than an attempt takes, and short enough that another worker takes over within 30 seconds of a crash. */
export const claimedUntil = (now: Date): Date => addDuration(now, '25s')

/** How long both secrets sign after a rotation. */
export const overlapUntil = (now: Date): Date => addDuration(now, '24h')

export const KEEP_LOG = '30d'
