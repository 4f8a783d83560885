import type { LibvirtError } from '../errors.ts'
import type { Endpoint } from '../transport/transport.ts'

export interface CallOptions {
  /** After this long the caller is told, though the daemon goes on. `Infinity` waits for ever. */
  timeoutMs?: number
  /** Aborted before the call is sent, it never is, and rejects as `not sent`. Afterwards it changes nothing. */
  signal?: AbortSignal | undefined
}

/** One call, told when it is settled. `error` is undefined when it went well. */
export interface CallReport {
  procedure: string
  error: LibvirtError | undefined
  queuedMs: number
  durationMs: number
}

export interface KeepaliveOptions {
  /** We ask for a sign of life after this much silence. Default: 5 s. */
  intervalMs?: number
  /** So many unanswered questions in a row mean that the other side is gone. Default: 5. */
  count?: number
  /** Whether the daemon watches us too, and closes when we stay silent. A connection that is paused by backpressure must not ask for it. Default: true. */
  watched?: boolean
}

export interface ConnectionOptions {
  endpoint: Endpoint
  /** Which hypervisor, `qemu:///system` unless told. */
  uri?: string
  readOnly?: boolean
  keepalive?: KeepaliveOptions
  /** For connecting, the TLS handshake and the opening together. Default: 10 s. */
  openTimeoutMs?: number
  /** Default: 30 s. */
  quickTimeoutMs?: number
  /** For procedures that may take long. Default: 10 min. */
  slowTimeoutMs?: number
  /** Calls at the daemon at once. libvirtd stops listening at five. Default: 4. */
  maxInFlight?: number
  onCall?: (report: CallReport) => void
  /** An event that could not be read, or a subscriber that threw. Default: a process warning. */
  onProblem?: (error: Error) => void
}
