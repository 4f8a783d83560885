// Errors of backup targets by kind, which says what the caller can do next: workflows read `retry`, customers `userMessage`, operators
// `message` and `cause`.

const KINDS = {
  /** No answer, or 5xx, after the retries of the client. */
  unavailable: { retry: true, userMessage: 'The backup storage does not answer.' },
  /** The caller's signal ended the wait. */
  aborted: { retry: true, userMessage: 'This took too long and was aborted.' },
  /** Wrong keys, or keys without the permission. */
  refused: { retry: false, userMessage: 'The backup storage refused access.' },
  /** The bucket does not exist. */
  no_bucket: { retry: false, userMessage: 'The backup storage is gone.' },
  /** The request itself was rejected, such as a lock in a bucket without object lock. */
  rejected: { retry: false, userMessage: 'The backup storage rejected this.' },
  /** An object that should be there is not. */
  missing: { retry: false, userMessage: 'Data of the backup is missing.' },
  /** An object is not what was stored: bit rot, or somebody else's bytes. */
  damaged: { retry: false, userMessage: 'Data of the backup is damaged.' },
  /** Object lock forbids the deletion until its date. */
  locked: { retry: false, userMessage: 'The backup is locked against deletion.' },
  /** The data key was sealed by another master key. */
  wrong_key: { retry: false, userMessage: 'The backup cannot be decrypted.' },
  /** A later version of Berth wrote it. */
  unsupported: { retry: false, userMessage: 'The backup has an unknown format.' },
  /** Another process has taken this upload over, or removed the backup. */
  cancelled: { retry: false, userMessage: 'This was cancelled.' },
} as const

type BackupTargetErrorKind = keyof typeof KINDS

export class BackupTargetError extends Error {
  readonly kind: BackupTargetErrorKind
  readonly retry: boolean
  readonly userMessage: string

  constructor(kind: BackupTargetErrorKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'BackupTargetError'
    this.kind = kind
    this.retry = KINDS[kind].retry
    this.userMessage = KINDS[kind].userMessage
  }

  get code(): BackupTargetErrorKind {
    return this.kind
  }
}

export const isTargetError = (error: unknown, ...kinds: BackupTargetErrorKind[]): error is BackupTargetError =>
  error instanceof BackupTargetError && (kinds.length === 0 || kinds.includes(error.kind))
