// What can go wrong on a host, sorted by what the caller should do next. A workflow asks `retry`, a customer reads `userMessage`, an
// operator reads `message` and `cause`.

const KINDS = {
  /** It failed this time; nothing is wrong with the request. */
  transient: { retry: true, userMessage: 'The host could not do this just now.' },
  /** The host does not answer. Its machines may well be running. */
  unreachable: { retry: true, userMessage: 'The host of this VM does not answer at the moment.' },
  /** The answer was lost: it may or may not have happened. Every verb may be repeated, or the real state looked up first. */
  unknown_outcome: { retry: true, userMessage: 'The host did not say whether this worked.' },
  /** The caller's signal ended the wait. What was begun may still happen. */
  aborted: { retry: true, userMessage: 'This took too long and was stopped.' },
  /** Somebody else took back what this call was making. */
  cancelled: { retry: false, userMessage: 'This was cancelled.' },
  not_found: { retry: false, userMessage: 'The host no longer has what this needs.' },
  /** The machine must be stopped, running or prepared first. */
  invalid_state: { retry: false, userMessage: 'The VM is not in a state that allows this.' },
  in_use: { retry: false, userMessage: 'Something still uses this.' },
  /** The same name, address range or uuid is taken by something else. */
  conflict: { retry: false, userMessage: 'This collides with something that is already on the host.' },
  no_space: { retry: false, userMessage: 'The host has run out of disk space.' },
  unsupported: { retry: false, userMessage: 'The host or the image cannot do this.' },
  /** The guest did not come up, or went down while coming up: see `consoleTail`. */
  guest_failed: { retry: false, userMessage: 'The VM did not come up.' },
  permanent: { retry: false, userMessage: 'The host refused this.' },
} as const

export type DriverErrorKind = keyof typeof KINDS

export interface DriverErrorDetail {
  /** For the customer; the kind's own message when absent. Never holds paths, addresses of hosts or XML. */
  userMessage?: string
  cause?: unknown
  /** The last lines the guest wrote to its serial console. */
  consoleTail?: string[]
}

export class DriverError extends Error {
  readonly kind: DriverErrorKind
  readonly retry: boolean
  readonly userMessage: string
  readonly consoleTail: string[]

  /** `message` is for the operator: what was asked of which host, and what it said. */
  constructor(kind: DriverErrorKind, message: string, detail: DriverErrorDetail = {}) {
    super(message, { cause: detail.cause })
    this.name = 'DriverError'
    this.kind = kind
    this.retry = KINDS[kind].retry
    this.userMessage = detail.userMessage ?? KINDS[kind].userMessage
    this.consoleTail = detail.consoleTail ?? []
  }

  get code(): DriverErrorKind {
    return this.kind
  }
}

export const isDriverError = (error: unknown, ...kinds: DriverErrorKind[]): error is DriverError =>
  error instanceof DriverError && (kinds.length === 0 || kinds.includes(error.kind))
