// The vocabulary of wire shapes. A schema is the only place where a limit stands: it validates, types and documents.
// `rule` is what a person reads when the value does not fit; `title` names the shape in the OpenAPI document.
import type { Static, TObject, TProperties, TSchema } from 'typebox'
import { Type } from './type-builder.ts'

export { Type, type Static, type TObject, type TProperties, type TSchema }

export const object = <P extends TProperties>(properties: P, options: { title?: string; description?: string } = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

export const Id = Type.String({ pattern: '^[cC][^\\s-]{8,}$', maxLength: 64, rule: 'must be an id: c and at least 8 more characters' })
const OCTET = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
/** An IPv4 address as part of a pattern: four octets without leading zeros. */
export const QUAD = `${OCTET}(\\.${OCTET}){3}`
export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })
export const Money = Type.String({ description: 'Decimal with two places, for example "12.00"; debits are negative' })
export const Bytes = Type.String({ description: 'Bytes as a decimal string' })
/** A simple type takes the short form: it reads better in a refusal. */
export function nullable<T extends TSchema>(schema: T) {
  const { type, enum: choices } = schema as { type?: unknown; enum?: unknown }
  const isSimple = ['string', 'integer', 'number', 'boolean'].includes(type as string) && !choices
  return Type.Unsafe<Static<T> | null>(isSimple ? { ...schema, type: [type, 'null'] } : Type.Union([schema, Type.Null()]))
}
export const text = (minLength: number, maxLength: number) => Type.String({ minLength, maxLength })
/** Control, bidirectional and line-separating characters would change what a terminal, an email or a list shows around the name. */
const NAME_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]*$'
export const nameText = (minLength: number, maxLength: number) =>
  Type.String({
    minLength,
    maxLength,
    pattern: NAME_PATTERN,
    rule: `must be ${minLength}-${maxLength} characters on one line, without control characters`,
  })
export const oneOf = <const T extends string[]>(values: [...T]) => Type.Enum(values)

export const PageQuery = { page: Type.Integer({ minimum: 1, default: 1 }), limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }) }

export const Pagination = object(
  { page: Type.Integer(), limit: Type.Integer(), total: Type.Integer(), totalPages: Type.Integer() },
  { title: 'Pagination' },
)

export const envelope = (data: TSchema) => object({ success: Type.Literal(true), data })
export const pagedEnvelope = (item: TSchema) => object({ success: Type.Literal(true), data: Type.Array(item), pagination: Pagination })

export interface PageRequest {
  page: number
  limit: number
}

export interface Paged<Item> {
  items: Item[]
  total: number
}

export const offsetOf = ({ page, limit }: PageRequest): number => (page - 1) * limit

/** A page past the end asks the database nothing: it may be any number at all. */
export async function pageOf<Item>(
  request: PageRequest,
  total: number,
  fetch: (limit: number, offset: number) => Promise<Item[]>,
): Promise<Paged<Item>> {
  const offset = offsetOf(request)
  return { total, items: offset < total ? await fetch(request.limit, offset) : [] }
}
