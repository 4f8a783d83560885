// The vocabulary of wire shapes. A schema is the only place where a limit stands: it validates, types and documents.
// `rule` is what a person reads when the value does not fit; `title` names the shape in the OpenAPI document.
import type { Static, TObject, TProperties, TSchema } from 'typebox'
import { invalid, type ApiError } from '../../kernel/errors.ts'
import { EMAIL_PATTERN } from '../../kernel/net/email-address.ts'
import type { PageRange } from '../../kernel/database/page-range.ts'
import { Type } from './type-builder.ts'

export { Type, type Static, type TObject, type TProperties, type TSchema }

export const object = <P extends TProperties>(properties: P, options: { title?: string; description?: string } = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

export const Id = Type.String({ pattern: '^[cC][^\\s-]{8,}$', maxLength: 64, rule: 'must be an id: c and at least 8 more characters' })
const OCTET = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
/** An IPv4 address as part of a pattern: four octets without leading zeros. */
export const QUAD = `${OCTET}(\\.${OCTET}){3}`
/** Loosely: what is one is for `parseIpRange` of kernel/ip-range.ts. */
export const IPV6 = '[\\dA-Fa-f]*:[\\dA-Fa-f:.]*'
export const Email = Type.String({ minLength: 3, maxLength: 254, pattern: EMAIL_PATTERN, rule: 'must be an e-mail address' })
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
/** Control, bidirectional and line-separating characters would change what a terminal, an email or a list shows around the text. */
export const MISLEADING = '\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069'
export const NAME_PATTERN = `^[^\\u0000-\\u001f${MISLEADING}]*$`
/** Several lines. */
export const TEXT_PATTERN = `^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f${MISLEADING}]*$`
export const plainText = (minLength: number, maxLength: number) =>
  Type.String({
    minLength,
    maxLength,
    pattern: TEXT_PATTERN,
    rule: `must be ${minLength}-${maxLength} characters, without control characters`,
  })
export const nameText = (minLength: number, maxLength: number) =>
  Type.String({
    minLength,
    maxLength,
    pattern: NAME_PATTERN,
    rule: `must be ${minLength}-${maxLength} characters on one line, without control characters`,
  })
export const oneOf = <const T extends string[]>(values: [...T]) => Type.Enum(values)

export const PageQuery = {
  page: Type.Integer({ minimum: 1, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description:
        'The `nextCursor` of an earlier response, to read on from there instead of from `page`: items added meanwhile move nothing',
    }),
  ),
}

export type Sort<Field extends string> = Field | `-${Field}`
/** Of a query: what its list can be sorted by. */
export type SortField<Query extends { sort?: string }> =
  NonNullable<Query['sort']> extends infer By ? (By extends `-${infer Field}` ? Field : never) : never

/** In the query of a list, newest first unless it is given. */
export const sortQuery = <const Field extends string>(fields: Field[], description = '') => ({
  sort: Type.Optional(
    Type.Unsafe<Sort<Field | 'createdAt'>>(
      Type.Enum(
        ['createdAt', ...fields].flatMap((field) => [field, `-${field}`]),
        { default: '-createdAt', description: `A leading - means descending${description}` },
      ),
    ),
  ),
})

/** In the query of a list of what has names. */
export const nameQuery = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Part of the name, in upper or lower case' })),
}

export const Pagination = object(
  { page: Type.Integer(), limit: Type.Integer(), total: Type.Integer(), totalPages: Type.Integer() },
  { title: 'Pagination' },
)

export const envelope = (data: TSchema) => object({ success: Type.Literal(true), data })
export const pagedEnvelope = (item: TSchema) =>
  object({
    success: Type.Literal(true),
    data: Type.Array(item),
    pagination: Pagination,
    nextCursor: nullable(Type.String({ description: 'Reads on after the last item; null where there is none' })),
  })

export interface PageRequest {
  page: number
  limit: number
  /** The key of the item to read on after; `page` is ignored then. */
  after?: string[] | null
}

export interface Paged<Item> {
  items: Item[]
  total: number
  /** Where the list is not sorted by id. */
  keyOf?: (item: Item) => string[]
}

export const rangeOf = ({ page, limit, after = null }: PageRequest): PageRange => ({ limit, offset: after ? 0 : (page - 1) * limit, after })

/**
 * A list that ends on its first page is not counted: one item more is read than the page has, and the end shows. A later page is not read
 * when it is past the end: it may have any number at all.
 */
export async function pageOf<Item>(
  request: PageRequest,
  count: () => Promise<number>,
  fetch: (range: PageRange) => Promise<Item[]>,
): Promise<Paged<Item>> {
  const range = rangeOf(request)
  if (range.after || range.offset > 0) {
    const total = await count()
    return { total, items: range.offset < total ? await fetch(range) : [] }
  }
  const items = await fetch({ ...range, limit: range.limit + 1 })
  if (items.length <= range.limit) return { total: items.length, items }
  return { total: await count(), items: items.slice(0, range.limit) }
}

/** Opaque to clients. It names its list, so that it is refused by another one. */
export const toCursor = (operationId: string, key: string[]): string =>
  Buffer.from(JSON.stringify([operationId, ...key])).toString('base64url')

export function fromCursor(operationId: string, cursor: string): string[] {
  try {
    const [list, ...key] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    if (list === operationId && key.length > 0 && key.every((part) => typeof part === 'string' && !part.includes('\0')))
      return key as string[]
  } catch {}
  throw wrongCursor()
}

/** In a cursor: exactly as the API writes it. `Date` also reads years that PostgreSQL has no room for. */
export const isTimestamp = (text: string): boolean =>
  /^\d{4}-/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text

export const wrongCursor = (): ApiError => invalid('cursor must be the nextCursor of this list, with the same sort', 'cursor')
