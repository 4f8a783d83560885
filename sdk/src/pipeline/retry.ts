// Repeats what is safe to repeat: what the server refused to look at, and what may be asked twice because it only reads, ends the same way,
// or carries an idempotency key.
import { ApiError, NetworkError, TimeoutError } from '../errors.ts'
import type { Sleep } from '../options.ts'
import type { ApiRequest, Handler } from './handler.ts'

const FIRST_BACKOFF_MS = 1_000
const LONGEST_BACKOFF_MS = 30_000
const SAFE_METHODS = new Set(['GET', 'PUT', 'DELETE'])
const PASSING = new Set([502, 503, 504])

export const retry =
  (sleep: Sleep): Handler =>
  (next) =>
  async (request) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await next(request)
      } catch (error) {
        if (attempt >= request.maxRetries || !mayRepeat(request, error)) throw error
        await sleep(pauseMs(error, attempt), request.signal, error)
      }
    }
  }

function mayRepeat(request: ApiRequest, error: unknown): boolean {
  if (!(error instanceof ApiError)) return isRepeatable(request) && (error instanceof NetworkError || error instanceof TimeoutError)
  if (error.status === 429) return true
  if (error.code === 'idempotency_in_progress') return true // an earlier attempt that was cut off here is still under way there
  // A fleet that is full now is full in a second.
  return PASSING.has(error.status) && error.code !== 'no_capacity' && isRepeatable(request)
}

const isRepeatable = ({ method, headers }: ApiRequest): boolean => SAFE_METHODS.has(method) || headers.has('idempotency-key')

/** At least what the server says, and then a random part of a span that doubles: those who were refused together come back apart. */
export function pauseMs(error: unknown, attempt: number): number {
  const span = backoffMs(attempt, FIRST_BACKOFF_MS)
  if (!(error instanceof ApiError)) return span
  const least = error.status === 429 ? 1 : 0
  return Math.max(error.retryAfterSeconds ?? 0, least) * 1_000 + span
}

export const backoffMs = (attempt: number, firstMs: number): number => Math.random() * Math.min(firstMs * 2 ** attempt, LONGEST_BACKOFF_MS)
