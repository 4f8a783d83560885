// One line describes a procedure: number, name, arguments, result. Types of calls and answers follow from it.
import { Program } from '../wire/frame.ts'
import { nothing, struct } from '../xdr/types.ts'
import type { Fields, StructIn, Type } from '../xdr/types.ts'

/** Which way the data of a procedure's stream flows, seen from us. */
export type Direction = 'in' | 'out' | 'both'

export type Pace = 'quick' | 'slow' | 'bulk' | 'guest'

export interface Procedure<Args, Result> {
  readonly program: number
  readonly number: number
  readonly name: string
  readonly args: Type<Args, unknown>
  readonly result: Type<never, Result>
  /** `Host` keeps what may take long away from what is quick, and what moves whole disks or waits for a guest away from both. */
  readonly pace: Pace
}

export interface StreamProcedure<Args, Result, D extends Direction> extends Procedure<Args, Result> {
  readonly direction: D
}

// oxlint-disable-next-line typescript/no-explicit-any -- a bound for inference only
export type AnyProcedure = Procedure<any, any>

type ArgsOf<F extends Fields> = StructIn<F>

export function quick<F extends Fields, R = void>(number: number, name: string, args: F, result?: Type<never, R>): Procedure<ArgsOf<F>, R> {
  return describe(Program.remote, number, name, args, result, 'quick')
}

export function slow<F extends Fields, R = void>(number: number, name: string, args: F, result?: Type<never, R>): Procedure<ArgsOf<F>, R> {
  return describe(Program.remote, number, name, args, result, 'slow')
}

/** Takes as long as a disk is large. */
export function bulk<F extends Fields, R = void>(number: number, name: string, args: F, result?: Type<never, R>): Procedure<ArgsOf<F>, R> {
  return describe(Program.remote, number, name, args, result, 'bulk')
}

/** Of QEMU's own program, which has numbers of its own. */
export function qemu<F extends Fields, R = void>(number: number, name: string, args: F, result?: Type<never, R>): Procedure<ArgsOf<F>, R> {
  return describe(Program.qemu, number, name, args, result, 'slow')
}

/** Takes as long as the guest likes, up to its timeout. */
export const byGuest = <Args, Result>(procedure: Procedure<Args, Result>): Procedure<Args, Result> => ({ ...procedure, pace: 'guest' })

export function stream<F extends Fields, D extends Direction, R = void>(
  direction: D,
  number: number,
  name: string,
  args: F,
  result?: Type<never, R>,
): StreamProcedure<ArgsOf<F>, R, D> {
  return { ...describe(Program.remote, number, name, args, result, 'slow'), direction }
}

function describe<F extends Fields, R>(
  program: number,
  number: number,
  name: string,
  args: F,
  result: Type<never, R> | undefined,
  pace: Pace,
): Procedure<ArgsOf<F>, R> {
  const nothingElse = nothing as unknown as Type<never, R>
  return { program, number, name, args: struct(args) as Type<ArgsOf<F>, unknown>, result: result ?? nothingElse, pace }
}

export function isStream(procedure: AnyProcedure): procedure is StreamProcedure<unknown, unknown, Direction> {
  return 'direction' in procedure
}
