// Driver errors by kind, which says what the caller can do next: workflows read `retry`, customers `userMessage`, operators `message` and
// `cause`.

const KINDS = {
  /** A failure of the host; the request is valid. */
  transient: { retry: true, userMessage: 'The host failed to do this: try again, and open a ticket if it fails again.' },
  /** The host does not respond. Its VMs may still be running. */
  unreachable: {
    retry: true,
    userMessage: 'The host of this VM is unreachable: try again when it answers. The VM says since when it does not.',
  },
  /** The reply was lost: the call may have succeeded. Every method is idempotent, so it can be repeated. */
  unknown_outcome: {
    retry: true,
    userMessage: 'The connection to the host was lost before it confirmed the result: try again, and open a ticket if it fails again.',
  },
  /** The caller's signal aborted the wait. The call may still take effect. */
  aborted: { retry: true, userMessage: 'This took too long and was aborted.' },
  /** Another process removed what this call was creating. */
  cancelled: { retry: false, userMessage: 'This was cancelled.' },
  not_found: { retry: false, userMessage: 'Something this depends on no longer exists on the host.' },
  /** The file of an ISO image can be brought from nowhere. */
  iso_missing: {
    retry: false,
    userMessage:
      'The file of the ISO image is gone: detach it from the VM if it is attached, which then starts from its own disk, and import it anew to attach it again.',
  },
  /** The machine must be stopped, running or prepared first. */
  invalid_state: { retry: false, userMessage: 'The VM is not in a state that allows this.' },
  in_use: { retry: false, userMessage: 'This is still in use.' },
  /** Name, address range or UUID is taken. */
  conflict: { retry: false, userMessage: 'This conflicts with something that already exists on the host.' },
  no_space: { retry: false, userMessage: 'The host has run out of disk space.' },
  unsupported: { retry: false, userMessage: 'The host or the image does not support this.' },
  /** The guest did not boot, or went off while booting: see `consoleTail`. */
  guest_failed: { retry: false, userMessage: 'The VM did not boot.' },
  permanent: { retry: false, userMessage: 'The host rejected this.' },
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

  /** `message` is for the operator: what was requested of which host, and its error. */
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
