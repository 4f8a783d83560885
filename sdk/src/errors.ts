// All errors of this package. A call that its AbortSignal cancels rejects with the signal's reason instead.
import type { Action, ErrorCode } from './generated/openapi.ts'

export class BerthError extends Error {
  override readonly name: string = 'BerthError'
}

/** A field of the request that failed validation. */
export interface FieldError {
  field: string
  message: string
}

export interface ApiErrorDetails<Code extends string = ErrorCode | 'unknown'> {
  status: number
  /** `unknown` if a proxy answered instead of the server. */
  code: Code
  /** Identifies the request in the server's log: include it in support tickets. */
  requestId: string | null
  fields: FieldError[]
  /** From the Retry-After header. */
  retryAfterSeconds: number | null
  /** Of `no_capacity`: what is missing, and what can be had instead. */
  noCapacity?: NoCapacity | null
}

export interface NoCapacity {
  /** Such as `ram`, `vcpu`, `dedicated_cpu`, `disk`, `address`, `trait`, `placement_group`. */
  missing: string[]
  alternatives: {
    /** Slugs of regions with room for the same now. */
    regions: string[]
    /** Slugs of plans with room in the same region now. */
    plans: string[]
    /** Whether the same can have room in the same region another time. */
    later: boolean
  }
}

/** The server returned an error. `message` is the server's text: what happened, why, and what to do next. */
export class ApiError<Code extends string = ErrorCode | 'unknown'> extends BerthError implements ApiErrorDetails<Code> {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: Code
  readonly requestId: string | null
  readonly fields: FieldError[]
  readonly retryAfterSeconds: number | null
  readonly noCapacity: NoCapacity | null

  constructor(message: string, details: ApiErrorDetails<Code>) {
    super(message)
    this.status = details.status
    this.code = details.code
    this.requestId = details.requestId
    this.fields = details.fields
    this.retryAfterSeconds = details.retryAfterSeconds
    this.noCapacity = details.noCapacity ?? null
  }
}

/** Whether `error` is an ApiError with one of these codes, or with any code if none is given: `isApiError(error, 'busy', 'invalid_state')`. */
export function isApiError<Code extends ErrorCode>(error: unknown, ...codes: Code[]): error is ApiError<Code> {
  return error instanceof ApiError && (codes.length === 0 || codes.includes(error.code as Code))
}

/** No response arrived, or only part of one. The request may have taken effect; repeating it with the same idempotency key is safe. */
export class NetworkError extends BerthError {
  override readonly name = 'NetworkError'
}

/** An attempt took longer than `timeoutMs`. */
export class TimeoutError extends BerthError {
  override readonly name = 'TimeoutError'
}

/** The action failed or was cancelled. `message` is the server's text. */
export class ActionFailedError extends BerthError {
  override readonly name = 'ActionFailedError'
  readonly action: Action

  constructor(action: Action) {
    super(action.error ?? `${action.action} ${action.status === 'CANCELLED' ? 'was cancelled' : 'has failed'}`)
    this.action = action
  }
}

/** The action did not end within `timeoutMs`. It continues on the server and can be waited for again. */
export class ActionTimeoutError extends BerthError {
  override readonly name = 'ActionTimeoutError'
  readonly actionId: string
  /** The last state received; null if the server never answered. */
  readonly action: Action | null

  constructor(actionId: string, action: Action | null, timeoutMs: number) {
    const state = action ? `${action.action} is still ${action.status} (${action.progress} %) after` : 'The server did not respond within'
    super(`${state} ${timeoutMs / 1000} seconds. The action continues: wait for action ${actionId} again`)
    this.actionId = actionId
    this.action = action
  }
}

/** The signature, the secret or the timestamp of a webhook request is not valid. Respond with 400 and ignore the payload. */
export class WebhookVerificationError extends BerthError {
  override readonly name = 'WebhookVerificationError'
}
