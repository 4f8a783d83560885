// Everything this package throws on its own account. A call that was given up by its signal rejects with the signal's reason instead.
import type { Action, ErrorCode } from './generated/schemas.ts'

export class BerthError extends Error {
  override readonly name: string = 'BerthError'
}

/** One field of the request that was not accepted. */
export interface FieldError {
  field: string
  message: string
}

export interface Refusal<Code extends string = ErrorCode | 'unknown'> {
  status: number
  /** The reason as a word; `unknown` where something between here and the server answered instead of it. */
  code: Code
  /** Names the request in the server's log: quote it to support. */
  requestId: string | null
  fields: FieldError[]
  /** How long to wait, where the server says so. */
  retryAfterSeconds: number | null
}

/** The server refused. The message is its own sentence: what happened, why, and what to do next. */
export class ApiError<Code extends string = ErrorCode | 'unknown'> extends BerthError implements Refusal<Code> {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: Code
  readonly requestId: string | null
  readonly fields: FieldError[]
  readonly retryAfterSeconds: number | null

  constructor(sentence: string, refusal: Refusal<Code>) {
    super(sentence)
    this.status = refusal.status
    this.code = refusal.code
    this.requestId = refusal.requestId
    this.fields = refusal.fields
    this.retryAfterSeconds = refusal.retryAfterSeconds
  }
}

/** Whether this is a refusal for one of these reasons: `isRefusal(error, 'busy', 'invalid_state')`. Any refusal when none is named. */
export function isRefusal<Code extends ErrorCode>(error: unknown, ...codes: Code[]): error is ApiError<Code> {
  return error instanceof ApiError && (codes.length === 0 || codes.includes(error.code as Code))
}

/** No answer came, or only a part of one. Whether the request had an effect is not known; with the same idempotency key it is safe to repeat. */
export class NetworkError extends BerthError {
  override readonly name = 'NetworkError'
}

/** An attempt took longer than `timeoutMs`. */
export class TimeoutError extends BerthError {
  override readonly name = 'TimeoutError'
}

/** The action ended, but not well. The message is the server's sentence. */
export class ActionFailedError extends BerthError {
  override readonly name = 'ActionFailedError'
  readonly action: Action

  constructor(action: Action) {
    super(action.error ?? `${action.action} ${action.status === 'CANCELLED' ? 'was cancelled' : 'has failed'}`)
    this.action = action
  }
}

/** The action has not ended, as far as is known, in the time that was given for it. It goes on; it can be waited for again. */
export class ActionTimeoutError extends BerthError {
  override readonly name = 'ActionTimeoutError'
  readonly actionId: string
  /** As it was seen last; null where the server did not answer once. */
  readonly action: Action | null

  constructor(actionId: string, action: Action | null, timeoutMs: number) {
    const state = action ? `${action.action} is still ${action.status} (${action.progress} %) after` : 'The server has not answered within'
    super(`${state} ${timeoutMs / 1000} seconds. The action goes on: wait for action ${actionId} again`)
    this.actionId = actionId
    this.action = action
  }
}

/** This request was not sent by the server, not with this secret, or not now. Answer it with 400 and do nothing else. */
export class WebhookVerificationError extends BerthError {
  override readonly name = 'WebhookVerificationError'
}
