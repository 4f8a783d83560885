// Layouts as values: `struct({ name: str, flags: uint })` writes, reads and has a TypeScript type.
import { ProtocolError } from '../errors.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

/** `In` is what a caller may give, `Out` what comes back. */
export interface Type<In, Out = In> {
  write(to: Writer, value: In): void
  read(from: Reader): Out
  /** The fewest bytes a value takes, so that an array cannot claim more items than there is room for. */
  readonly atLeastBytes: number
}

// oxlint-disable-next-line typescript/no-explicit-any -- a bound for inference only: layouts are invariant in what they take
export type AnyType = Type<any, any>
export type Fields = Record<string, AnyType>
export type InOf<T> = T extends Type<infer In, infer _Out> ? In : never
export type OutOf<T> = T extends Type<infer _In, infer Out> ? Out : never

type OptionalKeys<F extends Fields> = { [K in keyof F]: undefined extends InOf<F[K]> ? K : never }[keyof F]
type Flat<T> = { [K in keyof T]: T[K] }
/** A field that may be `undefined` may also be left out. */
export type StructIn<F extends Fields> = Flat<
  { [K in Exclude<keyof F, OptionalKeys<F>>]: InOf<F[K]> } & { [K in OptionalKeys<F>]?: InOf<F[K]> | undefined }
>
export type StructOut<F extends Fields> = { [K in keyof F]: OutOf<F[K]> }

export const int: Type<number> = { write: (to, value) => to.int(value), read: (from) => from.int(), atLeastBytes: 4 }
export const uint: Type<number> = { write: (to, value) => to.uint(value), read: (from) => from.uint(), atLeastBytes: 4 }
export const hyper: Type<bigint> = { write: (to, value) => to.hyper(value), read: (from) => from.hyper(), atLeastBytes: 8 }
export const uhyper: Type<bigint> = { write: (to, value) => to.uhyper(value), read: (from) => from.uhyper(), atLeastBytes: 8 }
export const double: Type<number> = { write: (to, value) => to.double(value), read: (from) => from.double(), atLeastBytes: 8 }
export const str: Type<string> = { write: (to, value) => to.str(value), read: (from) => from.str(), atLeastBytes: 4 }
export const bool: Type<boolean> = { write: (to, value) => to.int(value ? 1 : 0), read: (from) => from.int() !== 0, atLeastBytes: 4 }
export const opaque: Type<Uint8Array, Buffer> = { write: (to, value) => to.opaque(value), read: (from) => from.opaque(), atLeastBytes: 4 }
export const nothing: Type<void> = { write: () => {}, read: () => {}, atLeastBytes: 0 }

/** C's `char[n]`: four bytes for each character on the wire, ended by a zero. */
export function chars(length: number): Type<string> {
  return {
    write(to, value) {
      const bytes = Buffer.from(value, 'latin1')
      for (let i = 0; i < length; i++) to.int(i < length - 1 ? (bytes[i] ?? 0) : 0)
    },
    read(from) {
      const bytes = Array.from({ length }, () => from.int() & 0xff)
      const end = bytes.indexOf(0)
      return Buffer.from(end === -1 ? bytes : bytes.slice(0, end)).toString('latin1')
    },
    atLeastBytes: 4 * length,
  }
}

export function optional<In, Out>(type: Type<In, Out>): Type<In | undefined, Out | undefined> {
  return {
    write(to, value) {
      to.uint(value === undefined ? 0 : 1)
      if (value !== undefined) type.write(to, value)
    },
    read(from) {
      const present = from.uint()
      if (present > 1) throw new ProtocolError(`an optional value is announced with ${present} instead of 0 or 1`)
      return present === 1 ? type.read(from) : undefined
    },
    atLeastBytes: 4,
  }
}

/** `undefined` stands for `standard`. */
export function defaulted<In, Out>(type: Type<In, Out>, standard: In): Type<In | undefined, Out> {
  return { ...type, write: (to, value) => type.write(to, value === undefined ? standard : value) }
}

export function array<In, Out>(type: Type<In, Out>): Type<readonly In[], Out[]> {
  return {
    write(to, values) {
      to.uint(values.length)
      for (const value of values) type.write(to, value)
    },
    read(from) {
      const count = from.count(type.atLeastBytes || 4)
      const values: Out[] = []
      for (let i = 0; i < count; i++) values.push(type.read(from))
      return values
    },
    atLeastBytes: 4,
  }
}

export function struct<F extends Fields>(fields: F): Type<StructIn<F>, StructOut<F>> {
  const entries = Object.entries(fields)
  return {
    write(to, value) {
      const given: Record<string, unknown> = value
      for (const [name, type] of entries) type.write(to, given[name])
    },
    read(from) {
      const value: Record<string, unknown> = {}
      for (const [name, type] of entries) value[name] = type.read(from)
      return value as StructOut<F>
    },
    atLeastBytes: entries.reduce((sum, [, type]) => sum + type.atLeastBytes, 0),
  }
}

export function decode<Out>(type: Type<never, Out>, bytes: Buffer): Out {
  const reader = new Reader(bytes)
  const value = type.read(reader)
  reader.end()
  return value
}

export function encode<In>(type: Type<In, unknown>, value: In): Buffer {
  const writer = new Writer()
  type.write(writer, value)
  return writer.finish()
}
