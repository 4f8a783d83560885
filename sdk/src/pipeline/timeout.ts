// Gives an attempt up when it takes too long, or when the caller gives up the call.
import { TimeoutError } from '../errors.ts'
import type { Handler } from './handler.ts'

export const limitTime: Handler = (next) => async (request) => {
  const { signal, timeoutMs, method, url } = request
  signal?.throwIfAborted()
  const attempt = new AbortController()
  const giveUp = (): void => attempt.abort(signal?.reason)
  const timer = setTimeout(() => attempt.abort(new TimeoutError(`${method} ${url} took longer than ${timeoutMs} ms`)), timeoutMs)
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    return await next({ ...request, signal: attempt.signal })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}
