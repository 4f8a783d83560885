// What `Connection` and `Host` have in common: every procedure as a method of its area, `client.domains.lookupByName({ name })`.
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

export abstract class Client {
  readonly connect = this.bind(areas.connect)
  readonly domains = this.bind(areas.domains)
  readonly networks = this.bind(areas.networks)
  readonly filters = this.bind(areas.filters)
  readonly pools = this.bind(areas.pools)
  readonly volumes = this.bind(areas.volumes)
  readonly snapshots = this.bind(areas.snapshots)
  readonly blockJobs = this.bind(areas.blockJobs)
  readonly backups = this.bind(areas.backups)
  readonly checkpoints = this.bind(areas.checkpoints)
  readonly guests = this.bind(areas.guests)
  readonly migration = this.bind(areas.migration)

  abstract call<Args, Result>(procedure: Procedure<Args, Result>, args: Args, options?: CallOptions): Promise<Result>

  /** Resolves when the daemon has opened the stream; its `reply` is what the call answered. */
  abstract openStream<Args, Result, D extends Direction>(
    procedure: StreamProcedure<Args, Result, D>,
    args: Args,
    options?: CallOptions,
  ): Promise<StreamOf<Result, D>>

  protected bind<Procedures extends Record<string, AnyProcedure>>(procedures: Procedures): Area<Procedures> {
    const methods = Object.entries(procedures).map(([name, procedure]) => {
      const method = isStream(procedure)
        ? (args: unknown = {}, options?: CallOptions) => this.openStream(procedure, args, options)
        : (args: unknown = {}, options?: CallOptions) => this.call(procedure, args, options)
      return [name, method]
    })
    return Object.fromEntries(methods) as Area<Procedures>
  }
}
