// One line describes a procedure: number, name, arguments, result. Types of calls and answers follow from it.
import { Program } from '../wire/frame.ts'
import { nothing, struct } from '../xdr/types.ts'
import type { Fields, StructIn, Type } from '../xdr/types.ts'

/** Which way the data of a procedure's stream flows, seen from us. */
export type Direction = 'in' | 'out' | 'both'

export interface Procedure<Args, Result> {
  readonly program: number
  readonly number: number
  readonly name: string
  readonly args: Type<Args, unknown>
  readonly result: Type<never, Result>
  /** May take long: `Host` keeps it away from the quick ones. */
  readonly slow: boolean
}

export interface StreamProcedure<Args, Result, D extends Direction> extends Procedure<Args, Result> {
  readonly direction: D
}

// oxlint-disable-next-line typescript/no-explicit-any -- a bound for inference only
export type AnyProcedure = Procedure<any, any>

type ArgsOf<F extends Fields> = StructIn<F>

export function quick<F extends Fields, R = void>(number: number, name: string, args: F, result?: Type<never, R>): Procedure<ArgsOf<F>, R> {
  return describe(Program.remote, number, name, args, result, false)
}

export function slow<F extends Fields, R = void>(number: number, name: string, args: F, result?: Type<never, R>): Procedure<ArgsOf<F>, R> {
  return describe(Program.remote, number, name, args, result, true)
}

/** Of QEMU's own program, which has numbers of its own. */
export function qemu<F extends Fields, R = void>(number: number, name: string, args: F, result?: Type<never, R>): Procedure<ArgsOf<F>, R> {
  return describe(Program.qemu, number, name, args, result, true)
}

export function stream<F extends Fields, D extends Direction, R = void>(
  direction: D,
  number: number,
  name: string,
  args: F,
  result?: Type<never, R>,
): StreamProcedure<ArgsOf<F>, R, D> {
  return { ...describe(Program.remote, number, name, args, result, true), direction }
}

function describe<F extends Fields, R>(
  program: number,
  number: number,
  name: string,
  args: F,
  result: Type<never, R> | undefined,
  isSlow: boolean,
): Procedure<ArgsOf<F>, R> {
  const nothingElse = nothing as unknown as Type<never, R>
  return { program, number, name, args: struct(args) as Type<ArgsOf<F>, unknown>, result: result ?? nothingElse, slow: isSlow }
}

export function isStream(procedure: AnyProcedure): procedure is StreamProcedure<unknown, unknown, Direction> {
  return 'direction' in procedure
}
