import type { CallReport, ConnectionOptions } from '../connection/options.ts'
import type { Backoff } from './backoff.ts'
import type { Host } from './host.ts'
import type { LaneName, LaneReport } from './managed-connection.ts'

export interface HostOptions extends Omit<ConnectionOptions, 'onCall'> {
  /** All lanes are connected and events flow: list everything now. When it rejects it is tried again. */
  onUp?: (host: Host) => Promise<void> | void
  onDown?: (reason: Error) => void
  onCall?: (report: CallReport & { lane: LaneName | 'copies' | 'stream' }) => void
  onLane?: (report: LaneReport) => void
  /** Default: 0.1 s, doubling to 10 s. */
  backoff?: Partial<Backoff>
}
