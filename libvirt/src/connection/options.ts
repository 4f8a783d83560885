import type { LibvirtError } from '../errors.ts'
import type { Endpoint } from '../transport/transport.ts'

export interface CallOptions {
  /** Rejects after this time; the call still runs in the daemon. `Infinity` disables it. */
  timeoutMs?: number
  /** A call whose signal aborts before it is sent is never sent, and rejects as `not sent`. Later aborts have no effect. */
  signal?: AbortSignal | undefined
  /** Of a call that waits for a guest, on a `Host`: it goes before those that are not. */
  urgent?: boolean
}

/** Reported when a call is settled. `error` is undefined on success. */
export interface CallReport {
  procedure: string
  error: LibvirtError | undefined
  queuedMs: number
  durationMs: number
}

export interface KeepaliveOptions {
  /** A ping is sent after this idle time. Default: 5 s. */
  intervalMs?: number
  /** Unanswered pings in a row until the connection counts as lost. Default: 5. */
  count?: number
  /** Whether the daemon sends pings too, and closes an unresponsive connection. Must be off where backpressure may pause reading. Default: true. */
  watched?: boolean
}

export interface ConnectionOptions {
  endpoint: Endpoint
  /** Hypervisor URI. Default: `qemu:///system`. */
  uri?: string
  readOnly?: boolean
  keepalive?: KeepaliveOptions
  /** For connecting, TLS and the handshake together. Default: 10 s. */
  openTimeoutMs?: number
  /** Default: 30 s. */
  quickTimeoutMs?: number
  /** For procedures that may take long. Default: 10 min. */
  slowTimeoutMs?: number
  /** Calls in flight. libvirtd stops reading at five. Default: 4. */
  maxInFlight?: number
  onCall?: (report: CallReport) => void
  /** An event that cannot be decoded, or a listener that threw. Default: a process warning. */
  onProblem?: (error: Error) => void
}
