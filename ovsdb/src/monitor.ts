// A replica of some columns of a database, kept up to date by the server. It survives reconnects: the server sends what changed since the last
// transaction seen, or everything, of which only the differences are reported.
import { isDeepStrictEqual } from 'node:util'
import type { Connection } from './connection.ts'
import { CancelledError, TimeoutError } from './errors.ts'
import { applyDiff, columnType, decodeRow, type Row, type Schema } from './schema.ts'

export interface RowChange {
  table: string
  uuid: string
  /** Null of a row that is new. */
  before: Row | null
  /** Null of a row that was deleted. */
  after: Row | null
}

type RowUpdate = { initial?: unknown; insert?: unknown; modify?: Record<string, unknown>; delete?: unknown }
type TableUpdates = Record<string, Record<string, RowUpdate>>

const NO_TRANSACTION = '00000000-0000-0000-0000-000000000000'

export interface MonitorOptions {
  database: string
  id: string
  /** Columns by table. */
  columns: Record<string, readonly string[]>
  onChange(changes: RowChange[]): void
}

export class Monitor {
  readonly rows: Map<string, Map<string, Row>>
  private readonly options: MonitorOptions
  private readonly waiters = new Set<() => void>()
  private schema: Schema | undefined
  private lastTransaction = NO_TRANSACTION
  private hasStarted = false
  /** Updates that came in one piece with the reply that they follow. */
  private early: [string, TableUpdates][] = []

  constructor(options: MonitorOptions) {
    this.options = options
    this.rows = new Map(Object.keys(options.columns).map((table) => [table, new Map()]))
  }

  /** On every new connection. */
  async start(connection: Connection, schema: Schema): Promise<void> {
    const { database, id, columns } = this.options
    this.schema = schema
    this.hasStarted = false
    this.early = []
    const requests = Object.fromEntries(
      Object.entries(columns).map(([table, names]) => {
        for (const name of names) columnType(schema, table, name)
        return [table, [{ columns: names }]]
      }),
    )
    const reply = await connection.call('monitor_cond_since', [database, [id], requests, this.lastTransaction])
    const [isIncrement, transaction, updates] = reply as [boolean, string, TableUpdates]
    this.apply(transaction, updates, !isIncrement)
    this.hasStarted = true
    for (const [each, update] of this.early.splice(0)) this.apply(each, update, false)
  }

  receive(transaction: string, updates: TableUpdates): void {
    if (this.hasStarted) this.apply(transaction, updates, false)
    else this.early.push([transaction, updates])
  }

  /** Resolves once `isTrue`, which is asked again after every change. */
  until(
    what: string,
    isTrue: () => boolean,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        this.waiters.delete(check)
        if (error) reject(error)
        else resolve()
      }
      const check = (): void => {
        if (this.hasStarted && isTrue()) settle()
      }
      const onAbort = (): void => settle(new CancelledError(`${what}: cancelled`, { outcome: 'unknown', cause: signal?.reason }))
      const timer = setTimeout(() => settle(new TimeoutError(`${what}: not within ${timeoutMs} ms`, { outcome: 'unknown' })), timeoutMs)
      if (signal?.aborted) return onAbort()
      signal?.addEventListener('abort', onAbort, { once: true })
      this.waiters.add(check)
      check()
    })
  }

  private apply(transaction: string, updates: TableUpdates, isWhole: boolean): void {
    const changes = Object.entries(updates).flatMap(([table, rows]) =>
      Object.entries(rows).flatMap(([uuid, update]) => this.applyRow(table, uuid, update)),
    )
    if (isWhole) changes.push(...this.dropAbsent(updates))
    this.lastTransaction = transaction
    if (changes.length > 0) this.options.onChange(changes)
    for (const check of this.waiters) queueMicrotask(check)
  }

  private applyRow(table: string, uuid: string, update: RowUpdate): RowChange[] {
    const rows = this.rows.get(table)!
    const before = rows.get(uuid) ?? null
    const after = this.changed(table, before, update)
    if (after === null) rows.delete(uuid)
    else rows.set(uuid, after)
    return isSame(before, after) ? [] : [{ table, uuid, before, after }]
  }

  private changed(table: string, before: Row | null, update: RowUpdate): Row | null {
    const schema = this.schema!
    if ('delete' in update) return null
    if (update.modify === undefined) return { ...this.defaults(table), ...decodeRow(schema, table, update.initial ?? update.insert ?? {}) }
    const row = { ...(before ?? this.defaults(table)) }
    for (const [column, diff] of Object.entries(update.modify)) {
      row[column] = applyDiff(columnType(schema, table, column), row[column] ?? null, diff)
    }
    return row
  }

  /** The server leaves out columns that have their default value. */
  private defaults(table: string): Row {
    return Object.fromEntries(
      this.options.columns[table]!.map((column) => {
        const { key, value, min, max } = columnType(this.schema!, table, column)
        if (value !== null) return [column, {}]
        if (max > 1) return [column, []]
        return [column, min === 0 ? null : DEFAULTS[key]]
      }),
    )
  }

  private dropAbsent(updates: TableUpdates): RowChange[] {
    return [...this.rows].flatMap(([table, rows]) =>
      [...rows].flatMap(([uuid, before]) => {
        if (updates[table]?.[uuid]) return []
        rows.delete(uuid)
        return { table, uuid, before, after: null }
      }),
    )
  }
}

const DEFAULTS = { integer: 0, real: 0, boolean: false, string: '', uuid: NO_TRANSACTION } as const

function isSame(before: Row | null, after: Row | null): boolean {
  if (before === null || after === null) return before === after
  return Object.entries(after).every(([column, value]) => isSameValue(before[column], value))
}

/** Sets have no order. */
const isSameValue = (before: unknown, after: unknown): boolean =>
  Array.isArray(before) && Array.isArray(after)
    ? before.length === after.length && isDeepStrictEqual(new Set(before), new Set(after))
    : isDeepStrictEqual(before, after)
