// Errors of calls. Each names the procedure and has the stack of the caller, not of the socket. `outcome` says whether the daemon may have
// performed the call.

/** `refused`: the daemon returned an error. `not sent`: it did not receive the call. `unknown`: check the state before a repeat. */
export type Outcome = 'refused' | 'not sent' | 'unknown'

export class LibvirtError extends Error {
  override name = 'LibvirtError'
  readonly outcome: Outcome
  readonly procedure: string | undefined

  constructor(message: string, details: { outcome: Outcome; procedure?: string | undefined; cause?: unknown }) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.outcome = details.outcome
    this.procedure = details.procedure
  }
}

export interface RemoteErrorFields {
  code: number
  origin: number
  level: number
  errno?: number | undefined
  message: string | undefined
  details: string[]
}

/** The daemon's own error. `code` is one of `ErrorCode`, `origin` one of `ErrorOrigin`; `errno` comes with `ErrorCode.system`. */
export class RemoteError extends LibvirtError {
  override name = 'RemoteError'
  readonly code: number
  readonly origin: number
  readonly level: number
  readonly errno: number | undefined
  readonly details: readonly string[]

  constructor(procedure: string, answer: RemoteErrorFields) {
    super(`${procedure}: ${answer.message ?? `libvirt error ${answer.code}`}`, { outcome: 'refused', procedure })
    this.code = answer.code
    this.origin = answer.origin
    this.level = answer.level
    this.errno = answer.errno
    this.details = answer.details
  }
}

/** The connection was lost, or could not be opened. */
export class ConnectionLostError extends LibvirtError {
  override name = 'ConnectionLostError'
}

/** No reply in time. The call still runs in the daemon, unless `outcome` is `not sent`. */
export class TimeoutError extends LibvirtError {
  override name = 'TimeoutError'
}

/** The signal aborted before the call was sent. */
export class CancelledError extends LibvirtError {
  override name = 'CancelledError'
}

/** Invalid data of the protocol, in either direction. */
export class ProtocolError extends LibvirtError {
  override name = 'ProtocolError'

  constructor(message: string, details: { outcome?: Outcome; procedure?: string; cause?: unknown } = {}) {
    super(message, { outcome: 'unknown', ...details })
  }
}

/** Replaces the socket's stack of an error by that of the caller of `above`. Costs nothing until a call fails. */
export function withCallerStack<E>(error: E, above: Function): E {
  if (error instanceof Error) Error.captureStackTrace(error, above)
  return error
}

export function hasCode(error: unknown, ...codes: number[]): error is RemoteError {
  return error instanceof RemoteError && codes.includes(error.code)
}
