// Middleware: each handler wraps the next one and sees the request and its response.

export interface ApiRequest {
  readonly method: string
  readonly url: string
  /** The same object in every attempt. */
  readonly headers: Headers
  readonly body: string | undefined
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  readonly maxRetries: number
  /** null: send none; undefined: generate one. */
  readonly idempotencyKey: string | null | undefined
}

export type Send = (request: ApiRequest) => Promise<Response>

export type Handler = (next: Send) => Send

/** The first handler is the outermost. */
export const chain = (handlers: Handler[], send: Send): Send => handlers.reduceRight((next, handler) => handler(next), send)
