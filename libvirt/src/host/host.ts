// A host that reconnects. Quick calls, slow calls and events have a connection each, disk copies and calls to guests get one on demand, and every stream
// has its own, so that none blocks another. Lost connections are re-opened with backoff, and events registered again; then `onUp` lets the owner list
// everything again, because events in between are lost: treat events as hints, listings as the truth.
import { Client } from '../client.ts'
import { Connection } from '../connection/connection.ts'
import type { CallOptions, CallReport, ConnectionOptions } from '../connection/options.ts'
import type { StreamOf } from '../connection/stream.ts'
import { Subscriptions, warnOfProblem } from '../connection/subscriptions.ts'
import type { Handler } from '../connection/subscriptions.ts'
import { ConnectionLostError } from '../errors.ts'
import type { EventName } from '../protocol/events.ts'
import type { Direction, Procedure, StreamProcedure } from '../protocol/procedure.ts'
import type { Domain } from '../protocol/structs.ts'
import type { Backoff } from './backoff.ts'
import { ManagedConnection } from './managed-connection.ts'
import type { ConnectionName, ConnectionReport } from './managed-connection.ts'
import { LazyConnection } from './lazy-connection.ts'
import { EventRelay } from './event-relay.ts'
import { GuestTurns } from './guest-turns.ts'
import { Availability } from './availability.ts'

/** A daemon runs twenty calls at a time, of all its clients together: what takes long must leave workers for the others. */
const LONG_AT_ONCE = 3

type LazyName = 'copies' | 'guests'

export interface HostOptions extends Omit<ConnectionOptions, 'onCall'> {
  /** All connections are open and events registered: list everything now. Retried when it rejects. */
  onUp?: (host: Host) => Promise<void> | void
  onDown?: (reason: Error) => void
  onCall?: (report: CallReport & { connection: ConnectionName | LazyName | 'stream' }) => void
  onConnection?: (report: ConnectionReport) => void
  /** Default: 0.1 s, doubling to 10 s. */
  backoff?: Partial<Backoff>
}

export class Host extends Client {
  private readonly options: HostOptions
  private readonly backoff: Backoff
  private readonly uptime: Availability
  private readonly subscriptions: Subscriptions
  private readonly connections: Record<ConnectionName, ManagedConnection>
  private readonly onDemand = { bulk: this.lazy('copies'), guest: this.lazy('guests') }
  private readonly guestTurns = new GuestTurns(LONG_AT_ONCE)
  private readonly streaming = new Set<Connection>()
  private readonly onProblem: (error: Error) => void
  private relay: EventRelay | undefined
  private isClosed = false
  private lastReason: Error | undefined

  constructor(options: HostOptions) {
    super()
    this.options = options
    this.backoff = { firstMs: 100, maxMs: 10_000, ...options.backoff }
    this.onProblem = options.onProblem ?? warnOfProblem
    this.subscriptions = new Subscriptions(this.onProblem)
    this.uptime = new Availability({
      backoff: this.backoff,
      onUp: () => options.onUp?.(this),
      onDown: (reason) => this.notify(() => options.onDown?.(reason)),
      onProblem: this.onProblem,
    })
    this.connections = { quick: this.manage('quick'), slow: this.manage('slow'), events: this.manage('events') }
  }

  get isUp(): boolean {
    return this.uptime.isUp
  }

  /** Resolves when the host is up: connected, subscribed, and `onUp` has succeeded. Rejects when it is closed, or at the timeout. */
  async whenUp(timeoutMs?: number): Promise<this> {
    await this.uptime.reached(timeoutMs).catch((cause: unknown) => {
      const why = this.isClosed ? 'it was closed' : (this.lastReason?.message ?? `\`onUp\` took more than ${timeoutMs} ms`)
      throw new ConnectionLostError(`${this.options.endpoint.description} is not up: ${why}`, { outcome: 'not sent', cause })
    })
    return this
  }

  override async call<Args, Result>(procedure: Procedure<Args, Result>, args: Args, options: CallOptions = {}): Promise<Result> {
    const { pace, name } = procedure
    const connection = (pace === 'quick' ? this.connections.quick : this.connections.slow).use(name)
    if (pace !== 'bulk' && pace !== 'guest') return connection.call(procedure, args, options)
    const callOnDemand = async () => (await this.onDemand[pace].use()).call(procedure, args, options)
    if (pace === 'bulk') return callOnDemand()
    return this.guestTurns.take((args as { domain: Domain }).domain.uuid, name, options, callOnDemand)
  }

  override async openStream<Args, Result, D extends Direction>(
    procedure: StreamProcedure<Args, Result, D>,
    args: Args,
    options?: CallOptions,
  ): Promise<StreamOf<Result, D>> {
    // A download may be paused by its reader; a daemon that sends pings would close the connection then.
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

  /** Survives reconnects. Resolves, once registered if the host is up, with the unsubscribe function. */
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
    const connections = [...Object.values(this.connections), ...Object.values(this.onDemand)]
    await Promise.all([...connections.map((each) => each.stop()), ...[...this.streaming].map((one) => one.close())])
  }

  private manage(name: ConnectionName): ManagedConnection {
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

  private lazy(name: LazyName): LazyConnection {
    return new LazyConnection(() => this.open(name, true))
  }

  private async open(name: ConnectionName | LazyName | 'stream', watched: boolean): Promise<Connection> {
    const { onCall, keepalive, ...options } = this.options
    if (name === 'copies' || name === 'guests') options.maxInFlight = Math.min(LONG_AT_ONCE, options.maxInFlight ?? LONG_AT_ONCE)
    const report = onCall && { onCall: (call: CallReport) => onCall({ ...call, connection: name }) }
    const watching = { ...keepalive, watched: watched && (keepalive?.watched ?? true) }
    const connection = await Connection.open({ ...options, ...report, keepalive: watching })
    if (!this.isClosed) return connection
    await connection.close()
    throw new ConnectionLostError(`${options.endpoint.description} was closed by us`, { outcome: 'not sent' })
  }

  /** An event kind unknown to the daemon must not keep the host down. */
  private async relayEvents(connection: Connection): Promise<void> {
    const relay = new EventRelay(connection, this.subscriptions)
    this.relay = relay
    for (const name of this.subscriptions.names()) await relay.ensure(name).catch(this.onProblem)
  }

  private review(report: ConnectionReport): void {
    this.notify(() => this.options.onConnection?.(report))
    this.lastReason = report.reason
    if (report.reason) this.uptime.markDown(report.reason)
    else if (Object.values(this.connections).every(({ current }) => current)) void this.uptime.bringUp()
  }

  private notify(hook: () => void): void {
    try {
      hook()
    } catch (error) {
      this.onProblem(error as Error)
    }
  }
}
