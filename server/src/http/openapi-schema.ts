// Schemas as they stand in the OpenAPI document: what has a title becomes a reference to a component, words of our own are left out.
import type { TSchema } from './schema.ts'

export type Json = Record<string, unknown>
export type Components = Record<string, Json>

/** Answers may grow, so a reader must not rely on there being no further fields; what we read is exact. */
export type Direction = 'in' | 'out'

const OUR_WORDS = new Set(['rule', 'optionalBody', 'title'])

export function documentSchema(schema: TSchema, components: Components, direction: Direction): Json {
  const { title } = schema as { title?: string }
  const plain = withoutOurWords(schema as Json, components, direction)
  if (!title) return plain
  const known = components[title]
  if (known && JSON.stringify(known) !== JSON.stringify(plain)) throw new Error(`BUG: there are two different schemas titled ${title}`)
  components[title] = plain
  return { $ref: `#/components/schemas/${title}` }
}

function withoutOurWords(schema: Json, components: Components, direction: Direction): Json {
  const leftOut = (key: string): boolean =>
    OUR_WORDS.has(key) || key.startsWith('~') || (key === 'additionalProperties' && direction === 'out')
  const entries = Object.entries(schema).filter(([key]) => !leftOut(key))
  const inner = (each: unknown): unknown => (isSchema(each) ? documentSchema(each, components, direction) : each)
  const copy = Object.fromEntries(entries.map(([key, value]) => [key, copyKeyword(key, value, inner)]))
  const { rule } = schema
  return rule && !schema['description'] ? { ...copy, description: rule } : copy
}

function copyKeyword(key: string, value: unknown, inner: (each: unknown) => unknown): unknown {
  if (key === 'properties') return Object.fromEntries(Object.entries(value as Json).map(([name, each]) => [name, inner(each)]))
  if (key === 'anyOf' || key === 'oneOf' || key === 'allOf') return (value as unknown[]).map(inner)
  if (key === 'items' || key === 'additionalProperties') return inner(value)
  return value
}

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null
