import type { Handler } from './pipeline/handler.ts'

/** How one client talks to one server. */
export interface ClientOptions {
  /** Where the server is, for example `https://cloud.example.com`; with or without `/api/public/v1`. */
  baseUrl: string
  /** An API token, `vmk_…`: made in the dashboard under Settings, API Keys. */
  token: string
  /** How long one attempt may take until its answer is there; 30 seconds unless given. */
  timeoutMs?: number
  /** How often a request that may be repeated is sent again; 5 times unless given. */
  maxRetries?: number
  /** What requests are sent with; the runtime's own fetch unless given. */
  fetch?: typeof fetch
  /** Steps of your own that every attempt passes through, for example to log it. */
  handlers?: Handler[]
  /**
   * Waits between two attempts, after the error that made the first of them fail; for tests that own the time, and to tell whoever waits. Rejects
   * with the signal's reason when that is aborted.
   */
  sleep?: Sleep
}

/** What can be said about a single call. */
export interface CallOptions {
  /** Gives the call up, attempts to come included. */
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
  /**
   * Under which name this write has its effect once, however often it is sent: 1-255 visible ASCII characters. Made for every write unless
   * given. `null` sends none, and then a write is not repeated when nobody knows whether it had an effect.
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
