// Lets a request wait for the end of a run without polling: the end is notified, with a periodic check in case a notification was missed.
import { sleep, stopwatch } from '../kernel/clock.ts'
import type { Db } from '../kernel/database/db.ts'
import { findRun } from './run-store.ts'

export const RUN_ENDED = 'berth_runs'

export interface RunWatcher {
  /** Resolves when the run has ended, `ms` have passed, the signal is aborted, or the process stops. */
  ended(runId: string, ms: number, signal: AbortSignal): Promise<void>
  /** Resolves all of them now: they may last longer than a stopping process waits. */
  release(): void
  close(): Promise<void>
}

const POLL_INTERVAL_MS = 2_000

export async function createRunWatcher(db: Db): Promise<RunWatcher> {
  const waiting = new Map<string, Set<() => void>>()
  let released = false
  const stop = await db.listen(
    RUN_ENDED,
    (runId) => waiting.get(runId)?.forEach((wake) => wake()),
    () => {},
  )
  return {
    async ended(runId, ms, signal) {
      const elapsed = stopwatch()
      const mine = waiting.get(runId) ?? new Set()
      waiting.set(runId, mine)
      for (let left = ms; left > 0 && !signal.aborted && !released; left = ms - elapsed()) {
        let wake = (): void => {}
        const woken = new Promise<void>((resolve) => mine.add((wake = resolve)))
        const run = await findRun(db, runId)
        if (run?.status !== 'PENDING' && run?.status !== 'RUNNING') left = 0
        else await Promise.race([woken, sleep(Math.min(left, POLL_INTERVAL_MS)), onAbort(signal)])
        mine.delete(wake)
        if (left === 0) break
      }
      if (mine.size === 0) waiting.delete(runId)
    },
    release() {
      released = true
      waiting.forEach((wakes) => wakes.forEach((wake) => wake()))
    },
    close: stop,
  }
}

const onAbort = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
