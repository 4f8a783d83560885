// The operations of a transaction (RFC 7047, 5.2), typed by the rows of the database's tables: `type Tables = { Logical_Switch: { name: string } }`.
import { columnsOf, columnType, encode, type Ref, type Schema, type Value } from './schema.ts'

export type AnyTables = Record<string, object>
type Name<T> = keyof T & string

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'includes' | 'excludes'
export type Mutator = '+=' | '-=' | '*=' | '/=' | '%=' | 'insert' | 'delete'

/** `_uuid` can be asked for in every table. */
type Column<R> = Name<R> | '_uuid'
type Of<R, C> = C extends keyof R ? R[C] : string
/** A column of UUIDs takes references to rows of the same transaction too. */
type Written<V> = V extends string ? V | Ref : V extends readonly (infer E extends string)[] ? readonly (E | Ref)[] : V
type WrittenRow<R> = { [C in keyof R]?: Written<R[C]> }

export type Condition<R> = { [C in Column<R>]: readonly [column: C, comparison: Comparison, value: Written<Of<R, C>>] }[Column<R>]
export type Mutation<R> = { [C in Name<R>]: readonly [column: C, mutator: Mutator, value: Operand<R[C]>] }[Name<R>]
/** Several elements may be added and removed at once, and keys of a map removed by a list of them. */
type Operand<V> = Written<V> | (V extends readonly (infer E)[] ? Written<E & Value> : V extends object ? readonly string[] : never)

export interface Operation {
  op: string
  table?: string
  toJson(schema: Schema): Record<string, unknown>
}

/** The operations on one database, whose tables the compiler knows. */
export function operationsOn<T extends AnyTables>() {
  return {
    /** `as`: the name by which other operations of the transaction refer to it: `{ref: as}`. */
    insert: <N extends Name<T>>(table: N, row: WrittenRow<T[N]>, as?: string): Operation =>
      operation('insert', table, (schema) => ({ row: encodeRow(schema, table, row), ...(as === undefined ? {} : { 'uuid-name': as }) })),
    select: <N extends Name<T>>(table: N, where: readonly Condition<T[N]>[], columns?: readonly Column<T[N]>[]): Operation =>
      operation('select', table, (schema) => ({ where: encodeWhere(schema, table, where), ...(columns && { columns }) })),
    update: <N extends Name<T>>(table: N, where: readonly Condition<T[N]>[], row: WrittenRow<T[N]>): Operation =>
      operation('update', table, (schema) => ({ where: encodeWhere(schema, table, where), row: encodeRow(schema, table, row) })),
    mutate: <N extends Name<T>>(table: N, where: readonly Condition<T[N]>[], mutations: readonly Mutation<T[N]>[]): Operation =>
      operation('mutate', table, (schema) => ({
        where: encodeWhere(schema, table, where),
        mutations: mutations.map((mutation) => encodeMutation(schema, table, mutation as readonly [string, string, Value])),
      })),
    remove: <N extends Name<T>>(table: N, where: readonly Condition<T[N]>[]): Operation =>
      operation('delete', table, (schema) => ({ where: encodeWhere(schema, table, where) })),
    /** The transaction goes on when the rows are as given (or are not, with `!=`), and fails as `timed out` when they are not in time. */
    wait: <N extends Name<T>>(
      table: N,
      where: readonly Condition<T[N]>[],
      until: '==' | '!=',
      rows: readonly WrittenRow<T[N]>[],
      { columns, timeoutMs = 0 }: { columns?: readonly Column<T[N]>[]; timeoutMs?: number } = {},
    ): Operation =>
      operation('wait', table, (schema) => ({
        where: encodeWhere(schema, table, where),
        columns: columns ?? [...new Set(rows.flatMap((row) => Object.keys(row)))],
        until,
        rows: rows.map((row) => encodeRow(schema, table, row)),
        timeout: timeoutMs,
      })),
    /** Written into the log of the database. */
    comment: (text: string): Operation => ({ op: 'comment', toJson: () => ({ op: 'comment', comment: text }) }),
  }
}

const operation = (op: string, table: string, rest: (schema: Schema) => Record<string, unknown>): Operation => ({
  op,
  table,
  toJson(schema) {
    columnsOf(schema, table)
    return { op, table, ...rest(schema) }
  },
})

const encodeRow = (schema: Schema, table: string, row: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row as Record<string, Value | undefined>).flatMap(([column, value]) =>
      value === undefined ? [] : [[column, encodeColumn(schema, table, column, value)]],
    ),
  )

const encodeColumn = (schema: Schema, table: string, column: string, value: Value): unknown =>
  encode(columnType(schema, table, column), value, `${table}.${column}`)

const encodeWhere = (schema: Schema, table: string, where: readonly (readonly unknown[])[]): unknown[] =>
  where.map((condition) => {
    const [column, comparison, value] = condition as readonly [string, Comparison, Value]
    const type = columnType(schema, table, column)
    // A set or map may be compared with some of its elements.
    const compared = comparison === 'includes' || comparison === 'excludes' ? { ...type, min: 0, max: Infinity } : type
    return [column, comparison, encode(compared, value, `${table}.${column}`)]
  })

function encodeMutation(schema: Schema, table: string, [column, mutator, value]: readonly [string, string, Value]): unknown[] {
  const type = columnType(schema, table, column)
  const isKeyList = type.value !== null && mutator === 'delete' && Array.isArray(value)
  const operand = { ...type, value: isKeyList ? null : type.value, min: 0, max: Infinity }
  return [column, mutator, encode(operand, value, `${table}.${column}`)]
}
