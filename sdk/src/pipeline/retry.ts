// Retries requests that the server did not process (429) and, after transient failures, those that are idempotent by method or by
// idempotency key.
import { ApiError, NetworkError, TimeoutError } from '../errors.ts'
import type { Sleep } from '../options.ts'
import type { ApiRequest, Handler } from './handler.ts'

const FIRST_BACKOFF_MS = 1_000
const MAX_BACKOFF_MS = 30_000
const SAFE_METHODS = new Set(['GET', 'PUT', 'DELETE'])
const TRANSIENT_STATUSES = new Set([502, 503, 504])

export const retry =
  (sleep: Sleep): Handler =>
  (next) =>
  async (request) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await next(request)
      } catch (error) {
        if (attempt >= request.maxRetries || !isRetryable(request, error)) throw error
        await sleep(pauseMs(error, attempt), request.signal, error)
      }
    }
  }

function isRetryable(request: ApiRequest, error: unknown): boolean {
  if (!(error instanceof ApiError)) return isSafeToRepeat(request) && (error instanceof NetworkError || error instanceof TimeoutError)
  if (error.status === 429) return true
  if (error.code === 'idempotency_in_progress') return true // the server still processes an earlier attempt whose connection broke
  // no_capacity does not clear within the backoff.
  return TRANSIENT_STATUSES.has(error.status) && error.code !== 'no_capacity' && isSafeToRepeat(request)
}

const isSafeToRepeat = ({ method, headers }: ApiRequest): boolean => SAFE_METHODS.has(method) || headers.has('idempotency-key')

/** Retry-After plus full jitter over an exponential backoff, so that clients that failed together do not return together. */
export function pauseMs(error: unknown, attempt: number): number {
  const span = backoffMs(attempt, FIRST_BACKOFF_MS)
  if (!(error instanceof ApiError)) return span
  const least = error.status === 429 ? 1 : 0
  return Math.max(error.retryAfterSeconds ?? 0, least) * 1_000 + span
}

export const backoffMs = (attempt: number, firstMs: number): number => Math.random() * Math.min(firstMs * 2 ** attempt, MAX_BACKOFF_MS)
