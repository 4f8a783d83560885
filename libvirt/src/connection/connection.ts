// One connection to a libvirt daemon: calls, streams and events over one socket. A lost connection is not re-opened; `Host` does that.
// A stream that is read slowly pauses the whole socket, calls included: give every stream its own connection, as `Host` does.
import { Client } from '../client.ts'
import { withCallerStack, ConnectionLostError, ProtocolError } from '../errors.ts'
import type { EventName } from '../protocol/events.ts'
import { areas } from '../protocol/index.ts'
import type { Direction, Procedure, StreamProcedure } from '../protocol/procedure.ts'
import type { Transport } from '../transport/transport.ts'
import { FrameReader, MessageType, Program, Status } from '../wire/frame.ts'
import type { Frame } from '../wire/frame.ts'
import { Calls } from './calls.ts'
import { Keepalive } from './keepalive.ts'
import { asHandshakeError, openHypervisor } from './handshake.ts'
import type { CallOptions, ConnectionOptions } from './options.ts'
import { Registrations } from './registrations.ts'
import type { StreamOf } from './stream.ts'
import { Streams } from './streams.ts'
import { Subscriptions, warnOfProblem } from './subscriptions.ts'
import type { Handler } from './subscriptions.ts'

export class Connection extends Client {
  /** Resolves with the reason when the connection is closed or lost. */
  readonly closed: Promise<Error>
  private readonly options: ConnectionOptions
  private readonly transport: Transport
  private readonly frames = new FrameReader()
  private readonly calls: Calls
  private readonly streams: Streams
  private readonly subscriptions: Subscriptions
  private readonly registrations: Registrations
  private readonly keepalive: Keepalive
  private over = false
  private tellClosed: (reason: Error) => void = () => {}

  private constructor(transport: Transport, options: ConnectionOptions) {
    super()
    this.transport = transport
    this.options = options
    const send = (frame: Buffer) => transport.send(frame)
    this.calls = new Calls({ maxInFlight: options.maxInFlight ?? 4, report: options.onCall, send })
    this.streams = new Streams(transport)
    this.subscriptions = new Subscriptions(options.onProblem ?? warnOfProblem)
    this.registrations = new Registrations((procedure, args) => this.call(procedure, args))
    const { intervalMs = 5000, count = 5 } = options.keepalive ?? {}
    const dead = (silentMs: number) =>
      this.fail(new ConnectionLostError(`keepalive timeout: no data from the daemon for ${silentMs} ms`, { outcome: 'unknown' }))
    this.keepalive = new Keepalive({ send, dead, isPaused: () => this.streams.isPaused }, { intervalMs, count })
    this.closed = new Promise((resolve) => (this.tellClosed = resolve))
    transport.listen({ data: (chunk) => this.receive(chunk), closed: (reason) => this.fail(reason) })
  }

  /** For events of one domain, network or pool; use `subscribe` otherwise. */
  get registration() {
    return this.area('registration')
  }

  static async open(options: ConnectionOptions): Promise<Connection> {
    const { endpoint, openTimeoutMs = 10_000, uri = 'qemu:///system', readOnly = false } = options
    const deadline = Date.now() + openTimeoutMs
    const connection = new Connection(await endpoint.connect(openTimeoutMs), options)
    const timeoutMs = Math.max(1, deadline - Date.now())
    try {
      const watched = options.keepalive?.watched ?? true
      await openHypervisor((procedure, args) => connection.call(procedure, args, { timeoutMs }), { uri, readOnly, watched })
    } catch (error) {
      connection.fail(new ConnectionLostError('the handshake failed', { outcome: 'not sent', cause: error }))
      throw asHandshakeError(error, endpoint.description)
    }
    return connection
  }

  override async call<Args, Result>(procedure: Procedure<Args, Result>, args: Args, options: CallOptions = {}): Promise<Result> {
    const timeoutMs = options.timeoutMs ?? this.timeoutOf(procedure)
    try {
      return await this.calls.place(procedure, args, { serial: this.calls.nextSerial(), timeoutMs, signal: options.signal })
    } catch (error) {
      throw withCallerStack(error, this.call)
    }
  }

  override async openStream<Args, Result, D extends Direction>(
    procedure: StreamProcedure<Args, Result, D>,
    args: Args,
    options: CallOptions = {},
  ): Promise<StreamOf<Result, D>> {
    const serial = this.calls.nextSerial()
    const { stream, abort } = this.streams.prepare(procedure, args, serial)
    const late = (frame: Frame) => frame.status === Status.ok && abort()
    const timeoutMs = options.timeoutMs ?? this.timeoutOf(procedure)
    try {
      stream.open(await this.calls.place(procedure, args, { serial, timeoutMs, signal: options.signal, late }))
    } catch (error) {
      this.streams.forget(serial)
      throw withCallerStack(error, this.openStream)
    }
    return stream as unknown as StreamOf<Result, D>
  }

  /** Resolves, once the daemon has registered it, with the unsubscribe function. */
  async subscribe<K extends EventName>(name: K, handler: Handler<K>): Promise<() => Promise<void>> {
    this.subscriptions.add(name, handler)
    try {
      await this.registrations.ensure(name)
    } catch (error) {
      this.subscriptions.remove(name, handler)
      throw error
    }
    return async () => {
      this.subscriptions.remove(name, handler)
      if (!this.subscriptions.has(name)) await this.registrations.drop(name)
    }
  }

  /** Closes the connection. Pending calls are rejected. */
  async close(): Promise<void> {
    if (this.over) return
    // Without waiting long for a daemon that does not respond any more.
    await this.call(areas.connect.close, {}, { timeoutMs: 1000 }).catch(() => {})
    this.fail(new ConnectionLostError('the connection was closed by us', { outcome: 'unknown' }))
  }

  private timeoutOf(procedure: Procedure<never, unknown>): number {
    return procedure.pace !== 'quick' ? (this.options.slowTimeoutMs ?? 600_000) : (this.options.quickTimeoutMs ?? 30_000)
  }

  private receive(chunk: Buffer): void {
    this.keepalive.received()
    try {
      this.frames.push(chunk, (frame) => this.over || this.dispatch(frame))
    } catch (error) {
      this.fail(error instanceof Error ? error : new ProtocolError(String(error)))
    }
  }

  private dispatch(frame: Frame): void {
    if (frame.program === Program.keepalive) this.keepalive.answer(frame)
    else if (frame.type === MessageType.reply) this.calls.answer(frame)
    else if (frame.type === MessageType.stream || frame.type === MessageType.hole) this.streams.receive(frame)
    else if (frame.type === MessageType.message) this.subscriptions.deliver(frame)
    else throw new ProtocolError(`a message of type ${frame.type} is not valid from a daemon`)
  }

  private fail(reason: Error): void {
    if (this.over) return
    this.over = true
    this.keepalive.stop()
    this.transport.destroy()
    this.calls.lose(reason)
    this.streams.lose(reason)
    this.tellClosed(reason)
  }
}
