// Resolves a metrics query to a time range and step, by the retained resolution.
import { subtractDuration, parseDurationMs } from '../../kernel/clock.ts'
import { invalid } from '../../kernel/errors.ts'

export const KEEP_MINUTES = '24h'
export const KEEP_QUARTERS = '30d'
export const MINUTE = 60
export const QUARTER = 900

const STEPS = [MINUTE, 300, QUARTER, 3_600, 14_400, 86_400]
/** What a chart can show, and the maximum per request. */
const ENOUGH_POINTS = 1_500
const MAX_POINTS = 3_000
/** Tolerance for latency and clock skew in a request for "the last 24 hours". */
const SLACK = '10m'

export interface Window {
  from: Date
  /** Exclusive. */
  to: Date
  /** Seconds; `from` and `to` are multiples of it. */
  step: number
  /** `from` is within the retention of minutes. */
  isFine: boolean
}

export interface WindowQuery {
  from?: string
  to?: string
  step?: number
}

export function readWindow(query: WindowQuery, now: Date): Window {
  const to = query.to === undefined ? now : readMoment('to', query.to)
  const from = query.from === undefined ? subtractDuration(to, '1h') : readMoment('from', query.from)
  if (from >= to) throw invalid('from must be earlier than to', 'from')
  if (from >= now) throw invalid('from must not lie in the future', 'from')
  if (from < subtractDuration(subtractDuration(now, KEEP_QUARTERS), SLACK))
    throw invalid(
      `from must lie within the last ${parseDurationMs(KEEP_QUARTERS) / parseDurationMs('1d')} days: metrics are kept no longer`,
      'from',
    )
  const isFine = from >= subtractDuration(subtractDuration(now, KEEP_MINUTES), SLACK)
  const seconds = (Math.min(to.getTime(), now.getTime()) - from.getTime()) / 1000
  const step = readStep(query.step, seconds, isFine ? MINUTE : QUARTER)
  return { ...align(from, from.getTime() + seconds * 1000, step), step, isFine }
}

function readStep(given: number | undefined, seconds: number, finest: number): number {
  if (given === undefined) return STEPS.find((step) => step >= finest && seconds / step <= ENOUGH_POINTS) ?? STEPS.at(-1)!
  if (given % finest !== 0) {
    const because = finest === MINUTE ? '' : ` for a range that begins more than ${KEEP_MINUTES} ago`
    throw invalid(`step must be a multiple of ${finest} seconds${because}`, 'step')
  }
  if (seconds / given > MAX_POINTS) {
    const least = Math.ceil(seconds / MAX_POINTS / finest) * finest
    throw invalid(`step must be at least ${least} seconds for this range, which has more than ${MAX_POINTS} points otherwise`, 'step')
  }
  return given
}

/** Aligns to multiples of the step, so that repeated queries return the same points. */
function align(from: Date, toMs: number, step: number): { from: Date; to: Date } {
  const stepMs = step * 1000
  return { from: new Date(Math.floor(from.getTime() / stepMs) * stepMs), to: new Date(Math.ceil(toMs / stepMs) * stepMs) }
}

/** The schema allows second 60 (a leap second), which JavaScript cannot parse. */
function readMoment(field: string, text: string): Date {
  const moment = new Date(text)
  if (Number.isNaN(moment.getTime())) throw invalid(`${field} must be a date-time such as 2026-01-31T12:00:00Z`, field)
  return moment
}
