// The TypeBox builders that we use, reimplemented: only its types are imported, because loading the package reads 700 files, which slows a
// cold start. A schema is plain JSON Schema; optional properties carry a non-enumerable mark that only `Object` reads.
import type { Type as TypeBox } from 'typebox'

type Builders = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>
type Json = Record<string, unknown>

const OPTIONAL = '~optional'

export const isOptional = (schema: object): boolean => OPTIONAL in schema

const ofType =
  (type: string) =>
  (options: Json = {}): Json => ({ type, ...options })

function object(properties: Record<string, Json>, options: Json = {}): Json {
  const required = Object.keys(properties).filter((name) => !isOptional(properties[name]!))
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
}

export const Type = {
  String: ofType('string'),
  Integer: ofType('integer'),
  Number: ofType('number'),
  Boolean: ofType('boolean'),
  Null: ofType('null'),
  Array: (items: Json, options: Json = {}) => ({ type: 'array', items, ...options }),
  Object: object,
  Optional: (schema: Json) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  Union: (anyOf: Json[], options: Json = {}) => ({ anyOf, ...options }),
  Enum: (values: unknown[], options: Json = {}) => ({ enum: values, ...options }),
  Literal: (value: unknown, options: Json = {}) => ({ type: typeof value, const: value, ...options }),
  Unknown: (options: Json = {}) => options,
  Unsafe: (schema: Json) => schema,
} as unknown as Builders
