// PostgreSQL with plain SQL. The `sql` tag turns values into parameters and names each distinct text, so every query is a prepared
// statement. int8 arrives as bigint, timestamptz as Date, jsonb as parsed JSON.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { parseDurationMs } from '../clock.ts'
import { listenerOn } from './listen.ts'
import { closeWhenUnresponsive, streamOf } from './connection-watchdog.ts'

export class Sql {
  readonly text: string
  readonly values: unknown[]
  readonly name: string

  constructor(text: string, values: unknown[], name: string) {
    this.text = text
    this.values = values
    this.name = name
  }
}

const names = new Map<string, string>()

function nameOf(text: string): string {
  let name = names.get(text)
  if (!name) names.set(text, (name = createHash('sha1').update(text).digest('base64url')))
  return name
}

const flat = new WeakMap<TemplateStringsArray, { text: string; name: string }>()

/** A value becomes a parameter; another `sql` fragment is spliced in as text with its own parameters. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  const known = flat.get(strings)
  const plain = !values.some((value) => value instanceof Sql)
  if (known && plain) return new Sql(known.text, values, known.name)
  const parameters: unknown[] = []
  const text = strings.reduce((left, right, i) => left + splice(values[i - 1], parameters) + right)
  const name = nameOf(text)
  if (plain) flat.set(strings, { text, name })
  return new Sql(text, parameters, name)
}

function splice(value: unknown, parameters: unknown[]): string {
  if (!(value instanceof Sql)) return `$${parameters.push(value)}`
  if (value.values.length === 0) return value.text
  const shift = parameters.length
  parameters.push(...value.values)
  return value.text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + shift}`)
}

/** A number inlined into the text, where the plan depends on it. Each value is a separate prepared statement: only for a few values. */
export const inline = (whole: number): Sql => new Sql(String(Math.trunc(whole)), [], '')

/** For jsonb parameters: node-postgres would turn a bare array into a PostgreSQL array. */
export const json = (value: unknown): string => JSON.stringify(value)

/** For a column that its table allows to be null and that this statement never answers as null: the check of row types believes it. */
export type NotNull<T> = T

export interface Queries {
  many<Row>(query: Sql): Promise<Row[]>
  maybe<Row>(query: Sql): Promise<Row | undefined>
  /** For rows that must exist: their absence is a bug. */
  one<Row>(query: Sql): Promise<Row>
  /** Returns the number of changed rows. */
  run(query: Sql): Promise<number>
  /** For libraries that bring their own SQL. */
  raw(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

/** Statements run in the order they were sent and are pipelined: a `Promise.all` of several costs one round trip. */
export interface Tx extends Queries {
  /** Runs once the transaction has committed; a throw there is only logged, so use it for hints, never for effects that matter. */
  afterCommit(hint: () => void): void
  /** Carried out at the very end, together with the commit, so that it costs no round trip of its own. When it fails, everything does. */
  beforeCommit(query: Sql): void
  /** `isNeeded` is asked at the very end. */
  beforeCommitIf(query: Sql, isNeeded: () => boolean): void
  /** When `work` throws, what it changed, what it locked and what it put off are undone, and the transaction goes on: whoever catches the error may try something else. */
  attempt<T>(work: () => Promise<T>): Promise<T>
  /** What was changed is rolled back at the end instead of committed; what `work` returns is returned nevertheless. */
  rollBack(): void
  /** Every statement from now on may take so long, such as `10m`. */
  setStatementTimeout(duration: string): Promise<unknown>
}

export interface Db extends Queries {
  /**
   * Runs `work` in one transaction. A deadlock or a migration beside it runs it again from the start, so `work` must touch nothing but the
   * database.
   */
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Calls `onNotify` on every NOTIFY; `onListening(false)` when notifications may be missed from now on, `onListening(true)` when no longer.
   */
  listen(channel: string, onNotify: (payload: string) => void, onListening: (yes: boolean) => void): Promise<() => Promise<void>>
  readonly url: string
  close(): Promise<void>
}

/**
 * PostgreSQL refuses a prepared statement whose result a migration has changed: `cached plan must not change result type`. It does so
 * before it runs anything, so the statement, or the transaction that it has failed, is run again under a name that no connection has
 * prepared yet. The old names end with their connections.
 */
class StatementNames {
  generation = 0

  /** The query as it is to be sent. */
  current(query: Sql | string): Sql | string {
    if (this.generation === 0 || typeof query === 'string') return query
    return new Sql(query.text, query.values, `${query.name}.${this.generation}`)
  }

  /** Of many statements that fail at once only the first starts a new generation. */
  renew(failed: number): void {
    if (failed === this.generation) this.generation++
  }
}

const isOutdated = (error: unknown): boolean => (error as { routine?: string }).routine === 'RevalidateCachedQuery'

type Send = (query: Sql | string) => Promise<pg.QueryResult>

function queriesOf(send: Send): Queries {
  const rows = async <Row>(query: Sql): Promise<Row[]> => (await send(query)).rows as Row[]
  return {
    many: rows,
    maybe: async <Row>(query: Sql) => (await rows<Row>(query))[0],
    one: async <Row>(query: Sql) => {
      const [row] = await rows<Row>(query)
      if (row === undefined) throw new Error(`BUG: no row for: ${query.text}`)
      return row
    },
    run: async (query) => (await send(query)).rowCount ?? 0,
    raw: async (text, values) => send(values ? new Sql(text, values, nameOf(text)) : text),
  }
}

const INT8 = 20
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary' ? BigInt : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}

export interface DbOptions {
  url: string
  maxConnections: number
  onError: (error: Error) => void
  /** A transaction was aborted by a deadlock and runs again. Each costs seconds, so they are counted. */
  onDeadlock?: () => void
  /** After how long without a response a connection is closed; 0 = never. */
  unresponsiveMs?: number
}

const STATEMENT_MS = 30_000
/** By then PostgreSQL has responded, at least with a statement timeout. */
const SLACK_MS = 5_000

export function openDb({ url, maxConnections, onError, onDeadlock = () => {}, unresponsiveMs = STATEMENT_MS + SLACK_MS }: DbOptions): Db {
  const options: pg.PoolConfig & { pipeline: boolean; verify: typeof requirePrimary } = {
    connectionString: url,
    pipeline: true,
    max: maxConnections,
    types,
    connectionTimeoutMillis: 15_000,
    idleTimeoutMillis: 10_000,
    allowExitOnIdle: true,
    statement_timeout: STATEMENT_MS,
    idle_in_transaction_session_timeout: 60_000,
    verify: requirePrimary,
  }
  const pool = new pg.Pool(options)
  pool.on('connect', (client) => {
    closeWhenUnresponsive(client, unresponsiveMs)
    client.on('notice', ({ message }) => {
      if (message?.startsWith(UNREPLICATED)) unreplicated.add(client)
    })
  })
  // An idle connection died and the pool replaces it. The pool attaches the whole client to the error, which does not belong in a log.
  pool.on('error', (error: Error & { client?: unknown }) => {
    delete error.client
    onError(error)
  })
  const names = new StatementNames()
  const send: Send = async (query) => {
    for (let attempt = 1; ; attempt++) {
      const { generation } = names
      try {
        return await pool.query(names.current(query))
      } catch (error) {
        if (!isOutdated(error) || attempt === MAX_ATTEMPTS) throw error
        names.renew(generation)
      }
    }
  }
  return {
    ...queriesOf(send),
    tx: (work) => inTransaction(pool, names, work, onError, onDeadlock),
    listen: listenerOn(url, unresponsiveMs / 2), // half for the ping, half for its response
    url,
    close: () => pool.end(),
  }
}

/** A proxy that has just started, or has not noticed a failover yet, may lead to a standby. */
function requirePrimary(client: pg.ClientBase, done: (error?: Error) => void): void {
  client.query<{ transaction_read_only: string }>('show transaction_read_only', (error: Error | null, result) => {
    const isStandby = !error && result.rows[0]!.transaction_read_only === 'on'
    done(error ?? (isStandby ? new Error('PostgreSQL is a standby, or read-only') : undefined))
  })
}

/** PostgreSQL says so when a commit that waits for a standby runs out of time, and then reports success. With the primary it may be lost. */
const UNREPLICATED = 'canceling wait for synchronous replication'
const unreplicated = new WeakSet<pg.ClientBase>()

const DEADLOCK = '40P01'
const MAX_ATTEMPTS = 5

async function inTransaction<T>(
  pool: pg.Pool,
  names: StatementNames,
  work: (tx: Tx) => Promise<T>,
  onError: (error: Error) => void,
  onDeadlock: () => void,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const { generation } = names
    try {
      return await once(pool, names, work, onError)
    } catch (error) {
      if (isOutdated(error)) names.renew(generation)
      else if ((error as { code?: string }).code === DEADLOCK) onDeadlock()
      else throw error
      if (attempt === MAX_ATTEMPTS) throw error
    }
  }
}

async function once<T>(pool: pg.Pool, names: StatementNames, work: (tx: Tx) => Promise<T>, onError: (error: Error) => void): Promise<T> {
  const client = await pool.connect()
  unreplicated.delete(client) // of a statement before
  const hints: (() => void)[] = []
  const last: { query: Sql; isNeeded: () => boolean }[] = []
  let broken: Error | undefined
  let changed = false
  let isRolledBack = false
  let attempts = 0
  const lose = (error: Error): void => void (broken = error) // while nothing is asked, nobody else would hear of it
  client.on('error', lose)
  let over = false
  let outdated: Error | undefined // whatever `work` makes of it
  const send: Send = async (query) => {
    if (over) throw new Error('BUG: a statement after the end of its transaction')
    sendTogether(client)
    try {
      return await client.query(names.current(query))
    } catch (error) {
      if (isOutdated(error)) outdated = error as Error
      throw error
    }
  }
  try {
    const begun = send('begin')
    begun.catch(() => {}) // thrown below
    const tx = {
      ...queriesOf(send),
      afterCommit: (hint: () => void) => void hints.push(hint),
      beforeCommit: (query: Sql) => void last.push({ query, isNeeded: () => true }),
      beforeCommitIf: (query: Sql, isNeeded: () => boolean) => void last.push({ query, isNeeded }),
      attempt: async <R>(attempted: () => Promise<R>): Promise<R> => {
        const savepoint = `attempt_${++attempts}`
        const before = [hints.length, last.length] as const
        await send(`savepoint ${savepoint}`)
        try {
          return await attempted()
        } catch (error) {
          ;[hints.length, last.length] = before
          await send(`rollback to savepoint ${savepoint}`)
          throw error
        }
      },
      rollBack: () => void (isRolledBack = true),
      setStatementTimeout: (duration: string) => {
        changed = true
        const ms = parseDurationMs(duration)
        streamOf(client).setTimeout(ms + SLACK_MS)
        return send(`set local statement_timeout = ${ms}`)
      },
    }
    const result = await work(tx)
    over = true
    if (outdated) throw outdated
    sendTogether(client)
    if (isRolledBack) {
      await Promise.all([begun, client.query('rollback')])
      return result
    }
    const final = last.filter(({ isNeeded }) => isNeeded())
    await Promise.all([begun, ...final.map(({ query }) => client.query(names.current(query))), client.query('commit')]) // a commit after a failure is a rollback
    if (unreplicated.has(client)) throw (broken = new Error('The commit was not confirmed by a standby'))
    queueMicrotask(() => hints.forEach((hint) => attempt(hint, onError)))
    return result
  } catch (error) {
    over = true
    await client.query('rollback').catch((failure: Error) => (broken = failure))
    throw outdated ?? error
  } finally {
    client.off('error', lose)
    client.release(broken ?? changed) // with other limits it is not for everybody
  }
}

/** Corks the socket, so that statements of one turn go out in one write: a write costs more than most statements. */
function sendTogether(client: pg.PoolClient): void {
  const stream = streamOf(client)
  stream.cork()
  process.nextTick(() => stream.uncork())
}

function attempt(hint: () => void, onError: (error: Error) => void): void {
  try {
    hint()
  } catch (error) {
    onError(error as Error)
  }
}
