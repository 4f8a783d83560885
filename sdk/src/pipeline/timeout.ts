// Aborts work on a timeout or when the caller's signal aborts.
import { TimeoutError } from '../errors.ts'
import type { Handler } from './handler.ts'

/** setTimeout fires at once for longer delays, so they mean no timeout. */
const MAX_TIMER_MS = 2 ** 31 - 1

export const limitAttemptTime: Handler = (next) => (request) => {
  const { signal, timeoutMs, method, url } = request
  const timeoutError = (): Error => new TimeoutError(`${method} ${url} took longer than ${timeoutMs} ms`)
  return withTimeout(timeoutMs, signal, timeoutError, (attempt) => next({ ...request, signal: attempt }))
}

/** Runs `work` with a signal that aborts with the caller's signal, or with `timeoutError` after `ms`. */
export async function withTimeout<T>(
  ms: number,
  signal: AbortSignal | undefined,
  timeoutError: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const control = new AbortController()
  const abort = (): void => control.abort(signal?.reason)
  const timer = ms > MAX_TIMER_MS ? undefined : setTimeout(() => control.abort(timeoutError()), ms)
  signal?.addEventListener('abort', abort, { once: true })
  try {
    return await work(control.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
