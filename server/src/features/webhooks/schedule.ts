// When a delivery that failed is tried again: over 27 hours, so that a receiver may be down for a day and miss nothing.
import { addDuration, parseDurationMs } from '../../kernel/clock.ts'

/** After the first failed attempt, the second, and so on; after the eighth there is no other. */
const WAITS = ['5s', '5m', '30m', '2h', '5h', '10h', '10h']
const SPREAD = 0.2
/** What a receiver may ask for. */
const MAX_WAIT_MS = parseDurationMs('24h')

/** Null when it was the last attempt. Spread out, so that what failed together does not come back together. */
export function nextAttemptAt(now: Date, failedAttempts: number, retryAfter: string | null): Date | null {
  const wait = WAITS[failedAttempts - 1]
  if (!wait) return null
  const spread = 1 - SPREAD + Math.random() * 2 * SPREAD
  const ownMs = parseDurationMs(wait) * spread
  return new Date(now.getTime() + Math.max(ownMs, Math.min(askedMs(now, retryAfter), MAX_WAIT_MS)))
}

/** Retry-After is a number of seconds or a date. What is neither asks for nothing. */
function askedMs(now: Date, retryAfter: string | null): number {
  if (retryAfter === null) return 0
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000
  const date = Date.parse(retryAfter)
  return Number.isNaN(date) ? 0 : date - now.getTime()
}

export const FAILURES_TO_DISABLE = 10
/** A receiver that has not worked since then, and has failed so often, is given up. */
export const givenUpSince = (now: Date): Date => new Date(now.getTime() - parseDurationMs('5d'))

/** Longer than an attempt takes, short enough that another worker takes over within half a minute of a death. */
export const claimedUntil = (now: Date): Date => addDuration(now, '25s')

/** How long both secrets sign after a rotation. */
export const overlapUntil = (now: Date): Date => addDuration(now, '24h')

export const KEEP_LOG = '30d'
