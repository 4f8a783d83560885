import type { Handler } from './pipeline/handler.ts'

/** Options of a client. */
export interface ClientOptions {
  /** URL of the server, for example `https://cloud.example.com`; with or without `/api/public/v1`. */
  baseUrl: string
  /** An API token, `vmk_…`, created in the dashboard under Settings, API Keys. */
  token: string
  /** Timeout of one attempt including its response body. Default: 30 seconds. */
  timeoutMs?: number
  /** Retries of a request that is safe to repeat. Default: 5. */
  maxRetries?: number
  /** Default: the runtime's fetch. */
  fetch?: typeof fetch
  /** Middleware that every attempt passes through, for example for logging. */
  handlers?: Handler[]
  /**
   * Waits between two attempts; `error` is what made the previous attempt fail. Replace it in tests that control the clock, or to report retries.
   * Must reject with the signal's reason when the signal aborts.
   */
  sleep?: Sleep
}

/** Options of a single call. */
export interface CallOptions {
  /** Cancels the call, including pending retries. */
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
  /**
   * All requests with the same key take effect once: 1-255 visible ASCII characters. Default: a random key per write. `null` sends none; a
   * write without a key is not retried after a network error or a timeout, because it may have taken effect.
   */
  idempotencyKey?: string | null | undefined
}

export type Sleep = (ms: number, signal?: AbortSignal, error?: unknown) => Promise<void>

export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
