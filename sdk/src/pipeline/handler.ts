// A request passes through a chain of small handlers, each of which sees it on its way out and its answer on the way back.

export interface ApiRequest {
  readonly method: string
  readonly url: string
  /** The same object in every attempt. */
  readonly headers: Headers
  readonly body: string | undefined
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  readonly maxRetries: number
  /** The write's name, null for none at all, undefined for one to be made. */
  readonly idempotencyKey: string | null | undefined
}

export type Send = (request: ApiRequest) => Promise<Response>

export type Handler = (next: Send) => Send

/** The first handler is the outermost. */
export const chain = (handlers: Handler[], send: Send): Send => handlers.reduceRight((next, handler) => handler(next), send)
