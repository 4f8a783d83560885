// The only file that reads the system time. Everything scheduled, dated or expiring uses a Clock, so that tests can control it.
import { setTimeout as pause } from 'node:timers/promises'

export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

export interface ManualClock extends Clock {
  /** Moves time forward, for example `advance('31d')` or `advance('90s')`. */
  advance(duration: string): void
  set(to: Date): void
}

export function manualClock(start: Date = new Date()): ManualClock {
  let now = start.getTime()
  return {
    now: () => new Date(now),
    advance: (duration) => void (now += parseDurationMs(duration)),
    set: (to) => void (now = to.getTime()),
  }
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads `250ms`, `30s`, `10m`, `24h` or `7d`. */
export function parseDurationMs(duration: string): number {
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(duration)
  if (!match) throw new Error(`BUG: "${duration}" is not a duration such as 30s, 10m or 7d`)
  return Number(match[1]) * UNITS[match[2]!]!
}

export const addDuration = (from: Date, duration: string): Date => new Date(from.getTime() + parseDurationMs(duration))

export const subtractDuration = (to: Date, duration: string): Date => new Date(to.getTime() - parseDurationMs(duration))

/** Until then, or until the signal is aborted. */
export const sleepUnless = (signal: AbortSignal, ms: number): Promise<void> => pause(ms, undefined, { signal }).catch(() => {})

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** `work` is not cancelled at the timeout; its later result is ignored. */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => (timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)))
  work.catch(() => {})
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Monotonic, for measuring how long something took. */
export const stopwatch = (): (() => number) => {
  const start = performance.now()
  return () => performance.now() - start
}
