/** Whether the server may have done what was asked: `not sent` and `refused` mean that it has not. */
export type Outcome = 'not sent' | 'refused' | 'unknown'

export class OvsdbError extends Error {
  readonly outcome: Outcome

  constructor(message: string, options: { outcome: Outcome; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.outcome = options.outcome
  }
}

export class ConnectionLostError extends OvsdbError {}

export class TimeoutError extends OvsdbError {}

/** The caller's signal aborted. */
export class CancelledError extends OvsdbError {}

/** The server sent something that is not OVSDB. The connection is closed. */
export class ProtocolError extends OvsdbError {
  constructor(message: string, cause?: unknown) {
    super(message, { outcome: 'unknown', cause })
  }
}

/** The server refused a request or a transaction, of which nothing was applied. */
export class RefusedError extends OvsdbError {
  /** The server's own word, such as `constraint violation`, `timed out` (of a `wait`) or `referential integrity violation`. */
  readonly code: string
  readonly details: string
  /** The operation that failed, counted from 0; null if the transaction failed as a whole. */
  readonly operation: number | null

  constructor(what: string, code: string, details: string, operation: number | null = null) {
    super(`${what}: ${code}${details ? `: ${details}` : ''}`, { outcome: 'refused' })
    this.code = code
    this.details = details
    this.operation = operation
  }
}

/** A table, a column or a value that does not fit the schema of the database. Nothing was sent. */
export class SchemaError extends OvsdbError {
  constructor(message: string) {
    super(message, { outcome: 'not sent' })
  }
}
