// Generates requests from the schemas: mostly valid, with hostile values in every field.
import fc from 'fast-check'
import type { Operation } from '../src/http/api/operation.ts'
import type { TSchema } from '../src/http/api/schema.ts'

interface Schema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  items?: Schema
  minLength?: number
  maxLength?: number
}

const HOSTILE_TEXT = [
  '',
  ' ',
  '\0',
  '\ud800',
  '../../etc/passwd',
  "'; drop table accounts; --",
  '<script>',
  '${7*7}',
  '%00',
  '\u202e',
  'a\r\nb: c',
  '😀',
  'null',
]
const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXT),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constant('x'.repeat(5_000)),
)
const HOSTILE_NUMBERS = [0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 1e-7, -0]
const hostileNumber = fc.oneof(fc.constantFrom(...HOSTILE_NUMBERS), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
const anything = fc.oneof(hostileText, hostileNumber, fc.boolean(), fc.constant(null), fc.jsonValue({ maxDepth: 3 }))

/** `ids`: existing ids, so that some requests pass validation. */
function valueOf(schema: Schema, ids: string[]): fc.Arbitrary<unknown> {
  const fitting = fittingValue(schema, ids)
  return fc.oneof({ weight: 6, arbitrary: fitting }, { weight: 1, arbitrary: anything })
}

function fittingValue(schema: Schema, ids: string[]): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => valueOf(each, ids)))
  const [type = 'unknown'] = [schema.type].flat()
  switch (type) {
    case 'object':
      return fc.record(Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, valueOf(each, ids)])), {
        requiredKeys: [],
      })
    case 'array':
      return fc.array(valueOf(schema.items ?? {}, ids), { maxLength: 60 })
    case 'integer':
      return fc.oneof(fc.integer({ min: -2, max: 200 }), hostileNumber)
    case 'boolean':
      return fc.boolean()
    case 'string':
      return fc.oneof(
        fc.constantFrom(...ids),
        fc.string({ minLength: schema.minLength ?? 0, maxLength: Math.min(schema.maxLength ?? 40, 200) }),
        hostileText,
      )
    default:
      return anything
  }
}

export interface FuzzedRequest {
  params: Record<string, string>
  query: Record<string, string>
  body: unknown
  key: string | undefined
}

export function requestsOf(operation: Operation, ids: string[]): fc.Arbitrary<FuzzedRequest> {
  const id = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...ids) }, { weight: 1, arbitrary: hostileText })
  const text = (schema: TSchema): fc.Arbitrary<string> =>
    valueOf(schema as Schema, ids).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  const each = <T>(names: Record<string, TSchema> | undefined, make: (schema: TSchema) => fc.Arbitrary<T>) =>
    fc.record(Object.fromEntries(Object.entries(names ?? {}).map(([name, schema]) => [name, make(schema)])), {
      requiredKeys: [],
    }) as fc.Arbitrary<Record<string, T>>
  return fc.record({
    params: each(operation.params, () => id),
    query: each(operation.query, text),
    body:
      operation.method === 'GET'
        ? fc.constant(undefined)
        : operation.body
          ? valueOf(operation.body as Schema, ids)
          : fc.oneof(fc.constant(undefined), anything),
    key: fc.option(fc.string({ maxLength: 300 }), { nil: undefined }),
  })
}
