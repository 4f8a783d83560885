// Base of `Connection` and `Host`: every procedure is a method of its area, `client.domains.lookupByName({ name })`.
import type { CallOptions } from './connection/options.ts'
import type { StreamOf } from './connection/stream.ts'
import { areas } from './protocol/index.ts'
import { isStream } from './protocol/procedure.ts'
import type { AnyProcedure, Direction, Procedure, StreamProcedure } from './protocol/procedure.ts'

/** Arguments may be left out when none of them is required. */
type Given<Args> = {} extends Args ? [args?: Args, options?: CallOptions] : [args: Args, options?: CallOptions]

type Method<P> =
  P extends StreamProcedure<infer Args, infer Result, infer D>
    ? (...given: Given<Args>) => Promise<StreamOf<Result, D>>
    : P extends Procedure<infer Args, infer Result>
      ? (...given: Given<Args>) => Promise<Result>
      : never

export type Area<Procedures> = { readonly [Name in keyof Procedures]: Method<Procedures[Name]> }

type AreaName = keyof typeof areas

export abstract class Client {
  get connect() {
    return this.area('connect')
  }
  get domains() {
    return this.area('domains')
  }
  get devices() {
    return this.area('devices')
  }
  get networks() {
    return this.area('networks')
  }
  get filters() {
    return this.area('filters')
  }
  get pools() {
    return this.area('pools')
  }
  get volumes() {
    return this.area('volumes')
  }
  get secrets() {
    return this.area('secrets')
  }
  get snapshots() {
    return this.area('snapshots')
  }
  get blockJobs() {
    return this.area('blockJobs')
  }
  get backups() {
    return this.area('backups')
  }
  get checkpoints() {
    return this.area('checkpoints')
  }
  get guests() {
    return this.area('guests')
  }
  get migration() {
    return this.area('migration')
  }

  /** The same client bound to a signal: calls not sent when it aborts are never sent. */
  within(signal: AbortSignal): this {
    const own: Pick<Client, 'call' | 'openStream'> = {
      call: (procedure, args, options) => this.call(procedure, args, { signal, ...options }),
      openStream: (procedure, args, options) => this.openStream(procedure, args, { signal, ...options }),
    }
    return Object.assign(Object.create(this) as this, own)
  }

  abstract call<Args, Result>(procedure: Procedure<Args, Result>, args: Args, options?: CallOptions): Promise<Result>

  /** Resolves when the daemon has opened the stream; its `reply` is the result of the call. */
  abstract openStream<Args, Result, D extends Direction>(
    procedure: StreamProcedure<Args, Result, D>,
    args: Args,
    options?: CallOptions,
  ): Promise<StreamOf<Result, D>>

  protected area<Name extends AreaName>(name: Name): Area<(typeof areas)[Name]> {
    return Object.assign(Object.create(prototypes[name] as object), { client: this }) as Area<(typeof areas)[Name]>
  }
}

/** Methods are created at first use, so that a client is cheap. */
function prototypeOf(procedures: Record<string, AnyProcedure>): object {
  const prototype = {}
  for (const [name, procedure] of Object.entries(procedures)) {
    const get = isStream(procedure)
      ? function (this: { client: Client }) {
          return (args: unknown = {}, options?: CallOptions) => this.client.openStream(procedure, args, options)
        }
      : function (this: { client: Client }) {
          return (args: unknown = {}, options?: CallOptions) => this.client.call(procedure, args, options)
        }
    Object.defineProperty(prototype, name, { get })
  }
  return prototype
}

const prototypes = Object.fromEntries(Object.entries(areas).map(([name, procedures]) => [name, prototypeOf(procedures)]))
