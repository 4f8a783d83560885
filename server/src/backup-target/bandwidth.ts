import { setTimeout as delay } from 'node:timers/promises'
import { stopwatch } from '../kernel/clock.ts'

/** Waits until so many bytes may be sent. */
export type BandwidthLimit = (bytes: number, signal: AbortSignal) => Promise<void>

const wait = (ms: number, signal: AbortSignal): Promise<void> => delay(ms, undefined, { signal })

/** All senders that share a limit together keep to it; what one sends takes its time before the next may begin. Null is no limit. */
export function createBandwidthLimit(bytesPerSecond: number | null, elapsedMs: () => number = stopwatch(), pause = wait): BandwidthLimit {
  let freeAt = 0
  return async (bytes, signal) => {
    if (bytesPerSecond === null) return
    const now = elapsedMs()
    const begin = Math.max(now, freeAt)
    freeAt = begin + (bytes / bytesPerSecond) * 1_000
    if (begin > now) await pause(begin - now, signal)
  }
}
