// Part of a list: at an offset, or after a row by its sort key. Only the latter is stable while rows are inserted and deleted.
import { sql, type Sql } from './db.ts'

export interface PageRange {
  limit: number
  offset: number
  /** Sort key of the last row before the range; ids are strings that grow. */
  after: string[] | null
}

/** Ends a statement that has a `where`. */
export const newestFirst = (id: Sql, { limit, offset, after }: PageRange): Sql =>
  sql`${after ? sql`and ${id} < ${after[0]}` : sql``} order by ${id} desc limit ${limit} offset ${offset}`

/** A range in an order that has a direction, and rows of one value by id. A key is the order, the value and the id. */
export interface SortedRange<Field extends string = string> extends PageRange {
  /** What the rows are sorted by. */
  field: Field
  isDown: boolean
  /** Of the last row before the range; empty without one. */
  text: string
}

const partOf = ({ limit, offset }: PageRange): Sql => sql`limit ${limit} offset ${offset}`

/** By creation: ids grow. */
export const sortedByAge = (id: Sql, range: SortedRange): Sql =>
  range.isDown ? newestFirst(id, range) : sql`${range.after ? sql`and ${id} > ${range.after[2]}` : sql``} order by ${id} ${partOf(range)}`

/** `last`: the value of the last row before the range. Each of these ends a statement that has a `where`. */
function sortedBy(value: Sql, last: Sql, id: Sql, range: SortedRange): Sql {
  const { after } = range
  if (range.isDown)
    return sql`${after ? sql`and (${value}, ${id}) < (${last}, ${after[2]})` : sql``} order by ${value} desc, ${id} desc ${partOf(range)}`
  return sql`${after ? sql`and (${value}, ${id}) > (${last}, ${after[2]})` : sql``} order by ${value}, ${id} ${partOf(range)}`
}

export const sortedByText = (value: Sql, id: Sql, range: SortedRange): Sql =>
  sortedBy(sql`lower(${value})`, sql`lower(${range.text}::text)`, id, range)

export const sortedByNumber = (value: Sql, id: Sql, range: SortedRange): Sql =>
  sortedBy(value, sql`${range.after && BigInt(range.text)}::int8`, id, range)

export const sortedByTime = (value: Sql, id: Sql, range: SortedRange): Sql =>
  sortedBy(value, sql`${range.after && new Date(range.text)}::timestamptz`, id, range)

export const sortedByAddress = (value: Sql, id: Sql, range: SortedRange): Sql =>
  sortedBy(value, sql`${range.after && range.text}::inet`, id, range)

/** Escapes the wildcards of LIKE. */
export const likePattern = (part: string): string => `%${part.replace(/[\\%_]/g, '\\$&')}%`

/** Whether it has the part, in upper or lower case; undefined: all have. */
export const containing = (value: Sql, part: string | undefined): Sql => {
  const pattern = part === undefined ? null : likePattern(part)
  return sql`(${pattern}::text is null or ${value} ilike ${pattern})`
}
