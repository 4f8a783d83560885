// Typed parameters: named values that carry their type. The daemon refuses a value of another type than it expects,
// so writing names it: `{ 'inbound.average': Param.uint(1024) }`. Reading gives plain values.
import { ProtocolError } from '../errors.ts'
import type { Reader } from '../xdr/reader.ts'
import { bool, double, hyper, int, str, uhyper, uint } from '../xdr/types.ts'
import type { AnyType, Type } from '../xdr/types.ts'

const types: Record<number, AnyType> = { 1: int, 2: uint, 3: hyper, 4: uhyper, 5: double, 6: bool, 7: str }

export type Scalar = number | bigint | boolean | string
export interface TypedValue {
  readonly type: number
  readonly value: Scalar
}

export const Param = {
  int: (value: number): TypedValue => ({ type: 1, value }),
  uint: (value: number): TypedValue => ({ type: 2, value }),
  llong: (value: bigint): TypedValue => ({ type: 3, value }),
  ullong: (value: bigint): TypedValue => ({ type: 4, value }),
  double: (value: number): TypedValue => ({ type: 5, value }),
  boolean: (value: boolean): TypedValue => ({ type: 6, value }),
  string: (value: string): TypedValue => ({ type: 7, value }),
} as const

/** A list stands for a parameter that is given several times. */
export type Parameters = Record<string, TypedValue | readonly TypedValue[]>

export const parameters: Type<Parameters | undefined, Record<string, Scalar>> = {
  write(to, value = {}) {
    const all = Object.entries(value).flatMap(([field, given]) => [given].flat().map((one) => ({ field, ...(one as TypedValue) })))
    to.uint(all.length)
    for (const one of all) {
      to.str(one.field)
      to.int(one.type)
      typeNumbered(one.type).write(to, one.value)
    }
  },
  read(from) {
    const count = from.count(12)
    const entries: [string, Scalar][] = []
    for (let i = 0; i < count; i++) entries.push(readOne(from))
    return Object.fromEntries(entries)
  },
  atLeastBytes: 4,
}

function readOne(from: Reader): [string, Scalar] {
  const field = from.str()
  return [field, typeNumbered(from.int()).read(from) as Scalar]
}

function typeNumbered(number: number): AnyType {
  const type = types[number]
  if (type === undefined) throw new ProtocolError(`there is no parameter type ${number}`)
  return type
}
