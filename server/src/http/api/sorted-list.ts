// A page of a list in the order that the request wants. Its cursors have the order, what the last item has in it, and the item's id.
import type { SortedRange } from '../../kernel/database/page-range.ts'
import { parseIpRange } from '../../kernel/ip-range.ts'
import { parseCents } from '../../kernel/money.ts'
import { isTimestamp, pageOf, wrongCursor, type Paged, type PageRequest, type Sort } from './schema.ts'

/** What a cursor has of an item. */
interface Key<Item> {
  textOf: (item: Item) => string
  /** Cursors come from outside. */
  isText: (text: string) => boolean
}

export const textKey = <Item>(textOf: (item: Item) => string): Key<Item> => ({ textOf, isText: () => true })

/** Up to what fits into the database's integers. */
export const numberKey = <Item>(numberOf: (item: Item) => number | bigint | string): Key<Item> => ({
  textOf: (item) => String(numberOf(item)),
  isText: (text) => /^-?\d{1,18}$/.test(text),
})

/** Of money the cents are sorted by. */
export const moneyKey = <Item>(moneyOf: (item: Item) => string): Key<Item> => numberKey((item) => parseCents(moneyOf(item)))

export const timeKey = <Item>(textOf: (item: Item) => string): Key<Item> => ({ textOf, isText: isTimestamp })

export const addressKey = <Item>(textOf: (item: Item) => string): Key<Item> => ({ textOf, isText: (text) => parseIpRange(text) !== null })

export type Keys<Item, Field extends string> = Record<Exclude<Field, 'createdAt'>, Key<Item>>

interface Listed {
  id: string
  createdAt: string
}

/** By id alone, and so are its cursors. */
const NEWEST = '-createdAt'

export async function sortedPageOf<Item extends Listed, Field extends string>(
  page: PageRequest,
  sort: Sort<Field> = NEWEST as Sort<Field>,
  keys: Keys<Item, Field>,
  count: () => Promise<number>,
  fetch: (range: SortedRange<Field>) => Promise<Item[]>,
): Promise<Paged<Item>> {
  const isDown = sort.startsWith('-')
  const field = (isDown ? sort.slice(1) : sort) as Field
  const createdAt = timeKey((item: Item) => item.createdAt)
  const key = ({ ...keys, createdAt } as Record<Field, Key<Item>>)[field]
  if (page.after && !isOf(page.after, sort, key)) throw wrongCursor()
  const found = await pageOf(page, count, (range) => fetch({ ...range, field, isDown, text: range.after?.[1] ?? '' }))
  return { ...found, ...(sort !== NEWEST && { keyOf: (item: Item) => [sort, key.textOf(item), item.id] }) }
}

const isOf = (after: string[], sort: string, { isText }: Pick<Key<never>, 'isText'>): boolean =>
  sort === NEWEST ? after.length === 1 : after.length === 3 && after[0] === sort && isText(after[1]!)
