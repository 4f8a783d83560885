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
