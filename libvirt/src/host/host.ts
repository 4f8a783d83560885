// A host that stays reachable. Quick calls, slow calls and events each have a connection, copies of whole disks get one when there are
// any, and every stream has its own, so that none holds up another. A lost connection is replaced, with growing pauses; events are asked
// for again; then `onUp` lets the owner list everything anew, because events that happened meanwhile are lost: events are hints, a listing
// is the truth.
import { Client } from '../client.ts'
import { Connection } from '../connection/connection.ts'
import type { CallOptions, CallReport, ConnectionOptions } from '../connection/options.ts'
import type { StreamOf } from '../connection/stream.ts'
import { Subscriptions, warnOfProblem } from '../connection/subscriptions.ts'
import type { Handler } from '../connection/subscriptions.ts'
import { ConnectionLostError } from '../errors.ts'
import type { EventName } from '../protocol/events.ts'
import type { Direction, Procedure, StreamProcedure } from '../protocol/procedure.ts'
import type { Backoff } from './backoff.ts'
import { ManagedConnection } from './managed-connection.ts'
import type { LaneName, LaneReport } from './managed-connection.ts'
import { LazyConnection } from './lazy-connection.ts'
import { Relay } from './event-relay.ts'
import { Availability } from './availability.ts'

export interface HostOptions extends Omit<ConnectionOptions, 'onCall'> {
  /** All lanes are connected and events flow: list everything now. When it rejects it is tried again. */
  onUp?: (host: Host) => Promise<void> | void
  onDown?: (reason: Error) => void
  onCall?: (report: CallReport & { lane: LaneName | 'copies' | 'stream' }) => void
  onLane?: (report: LaneReport) => void
  /** Default: 0.1 s, doubling to 10 s. */
  backoff?: Partial<Backoff>
}

/** A daemon carries out twenty calls at a time, of all its clients together: copies must leave room for the others. */
const COPIES_AT_ONCE = 3

export interface HostOptions extends Omit<ConnectionOptions, 'onCall'> {
  /** All lanes are connected and events flow: list everything now. When it rejects it is tried again. */
  onUp?: (host: Host) => Promise<void> | void
  onDown?: (reason: Error) => void
  onCall?: (report: CallReport & { lane: LaneName | 'copies' | 'stream' }) => void
  onLane?: (report: LaneReport) => void
  /** Default: 0.1 s, doubling to 10 s. */
  backoff?: Partial<Backoff>
}

export class Host extends Client {
  private readonly options: HostOptions
  private readonly backoff: Backoff
  private readonly uptime: Availability
  private readonly subscriptions: Subscriptions
  private readonly lanes: Record<LaneName, ManagedConnection>
  private readonly copies = new LazyConnection(() => this.open('copies', true))
  private readonly streaming = new Set<Connection>()
  private readonly onProblem: (error: Error) => void
  private relay: Relay | undefined
  private isClosed = false
  private lastReason: Error | undefined

  constructor(options: HostOptions) {
    super()
    this.options = options
    this.backoff = { firstMs: 100, mostMs: 10_000, ...options.backoff }
    this.onProblem = options.onProblem ?? warnOfProblem
    this.subscriptions = new Subscriptions(this.onProblem)
    this.uptime = new Availability({
      backoff: this.backoff,
      onUp: () => options.onUp?.(this),
      onDown: (reason) => this.notify(() => options.onDown?.(reason)),
      onProblem: this.onProblem,
    })
    this.lanes = { quick: this.lane('quick'), slow: this.lane('slow'), events: this.lane('events') }
  }

  get isUp(): boolean {
    return this.uptime.isUp
  }

  /** Resolves when the host is up: connected, subscribed, and `onUp` has done its work. Rejects when it is closed, or not up in time. */
  async whenUp(timeoutMs?: number): Promise<this> {
    await this.uptime.reached(timeoutMs).catch((cause: unknown) => {
      const why = this.isClosed ? 'it was closed' : (this.lastReason?.message ?? `\`onUp\` took more than ${timeoutMs} ms`)
      throw new ConnectionLostError(`${this.options.endpoint.description} is not up: ${why}`, { outcome: 'not sent', cause })
    })
    return this
  }

  override async call<Args, Result>(procedure: Procedure<Args, Result>, args: Args, options?: CallOptions): Promise<Result> {
    const lane = procedure.pace === 'quick' ? this.lanes.quick : this.lanes.slow
    const connection = lane.use(procedure.name)
    return (procedure.pace === 'bulk' ? await this.copies.use() : connection).call(procedure, args, options)
  }

  override async openStream<Args, Result, D extends Direction>(
    procedure: StreamProcedure<Args, Result, D>,
    args: Args,
    options?: CallOptions,
  ): Promise<StreamOf<Result, D>> {
    // A download may be paused for as long as its reader likes; a daemon that watched us would take that for death.
    const connection = await this.open('stream', procedure.direction === 'both')
    this.streaming.add(connection)
    void connection.closed.then(() => this.streaming.delete(connection))
    try {
      const stream = await connection.openStream(procedure, args, options)
      stream.once('close', () => void connection.close())
      return stream
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  /** Survives reconnects. Resolves, once events flow if the host is up, with a function that ends the subscription. */
  async subscribe<K extends EventName>(name: K, handler: Handler<K>): Promise<() => void> {
    const end = () => this.subscriptions.remove(name, handler)
    this.subscriptions.add(name, handler)
    try {
      await this.relay?.ensure(name)
    } catch (error) {
      end()
      throw error
    }
    return end
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.uptime.stop()
    const lanes = [...Object.values(this.lanes), this.copies]
    await Promise.all([...lanes.map((lane) => lane.stop()), ...[...this.streaming].map((one) => one.close())])
  }

  private lane(name: LaneName): ManagedConnection {
    return new ManagedConnection({
      name,
      backoff: this.backoff,
      open: () => this.open(name, true),
      prepare: async (connection) => {
        if (name === 'events') await this.relayEvents(connection)
      },
      changed: (report) => this.review(report),
    })
  }

  private async open(lane: LaneName | 'copies' | 'stream', watched: boolean): Promise<Connection> {
    const { onCall, keepalive, ...options } = this.options
    if (lane === 'copies') options.maxInFlight = Math.min(COPIES_AT_ONCE, options.maxInFlight ?? COPIES_AT_ONCE)
    const report = onCall && { onCall: (call: CallReport) => onCall({ ...call, lane }) }
    const watching = { ...keepalive, watched: watched && (keepalive?.watched ?? true) }
    const connection = await Connection.open({ ...options, ...report, keepalive: watching })
    if (!this.isClosed) return connection
    await connection.close()
    throw new ConnectionLostError(`${options.endpoint.description} was closed by us`, { outcome: 'not sent' })
  }

  /** A kind that this daemon does not know must not keep the host down. */
  private async relayEvents(connection: Connection): Promise<void> {
    const relay = new Relay(connection, this.subscriptions)
    this.relay = relay
    for (const name of this.subscriptions.names()) await relay.ensure(name).catch(this.onProblem)
  }

  private review(report: LaneReport): void {
    this.notify(() => this.options.onLane?.(report))
    this.lastReason = report.reason
    if (report.reason) this.uptime.markDown(report.reason)
    else if (Object.values(this.lanes).every((lane) => lane.current)) void this.uptime.bringUp()
  }

  private notify(hook: () => void): void {
    try {
      hook()
    } catch (error) {
      this.onProblem(error as Error)
    }
  }
}
