// Gives an attempt up when it takes too long, or when the caller gives up the call.
import { TimeoutError } from '../errors.ts'
import type { Handler } from './handler.ts'

/** What is longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const limitTime: Handler = (next) => async (request) => {
  const { signal, timeoutMs, method, url } = request
  signal?.throwIfAborted()
  const attempt = new AbortController()
  const giveUp = (): void => attempt.abort(signal?.reason)
  const overdue = (): void => attempt.abort(new TimeoutError(`${method} ${url} took longer than ${timeoutMs} ms`))
  const timer = setTimeout(overdue, Math.min(timeoutMs, LONGEST_TIMER_MS))
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    return await next({ ...request, signal: attempt.signal })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}
