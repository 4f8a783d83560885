// Gives work up when it takes too long, or when the caller gives it up.
import { TimeoutError } from '../errors.ts'
import type { Handler } from './handler.ts'

/** What is longer would fire at once: it is no limit then. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const limitTime: Handler = (next) => (request) => {
  const { signal, timeoutMs, method, url } = request
  const overdue = (): Error => new TimeoutError(`${method} ${url} took longer than ${timeoutMs} ms`)
  return within(timeoutMs, signal, overdue, (attempt) => next({ ...request, signal: attempt }))
}

/** Does the work with a signal that the caller's signal aborts, and the end of the time with `overdue`. */
export async function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  overdue: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const control = new AbortController()
  const giveUp = (): void => control.abort(signal?.reason)
  const timer = ms > LONGEST_TIMER_MS ? undefined : setTimeout(() => control.abort(overdue()), ms)
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    return await work(control.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}
