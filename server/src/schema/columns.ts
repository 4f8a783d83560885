// What statements say instead of a star. A star is expanded when a connection prepares the statement: after a migration that adds a column,
// PostgreSQL refuses the prepared one, because its result would change.
import { Sql } from '../kernel/database/db.ts'
import { COLUMNS, type Tables } from './rows.gen.ts'

const fragments = new Map<string, Sql>()

/** All columns of a table or view, as `Tables` has them; with the alias that the statement gives the table. */
export function allColumns(table: keyof Tables, alias?: string): Sql {
  const key = `${table} ${alias}`
  let fragment = fragments.get(key)
  if (!fragment) {
    const columns = alias ? COLUMNS[table].split(', ').map((column) => `${alias}.${column}`) : [COLUMNS[table]]
    fragments.set(key, (fragment = new Sql(columns.join(', '), [], '')))
  }
  return fragment
}
