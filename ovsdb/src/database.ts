// One database on one server or a cluster, for programs that run for months: what is lost is connected again, to the leader of a cluster, and
// monitors go on where they were.
import { Connection, refusal, type CallOptions } from './connection.ts'
import type { Endpoint } from './endpoint.ts'
import { CancelledError, ConnectionLostError, ProtocolError, type OvsdbError } from './errors.ts'
import { Monitor, type RowChange } from './monitor.ts'
import type { AnyTables, Operation } from './operations.ts'
import { decodeRow, parseSchema, type Row, type Schema } from './schema.ts'

export interface DatabaseOptions {
  name: string
  /** Of the members of a cluster, tried in turn. */
  endpoints: readonly Endpoint[]
  /** Default: 5 s. */
  connectTimeoutMs?: number
  /** After this time without a message the server is asked for an echo, after twice this time the connection is lost. Default: 5 s. */
  idleMs?: number
  /** Calls wait for a lost connection until it has been lost for this time; then they are rejected at once. Default: 5 s. */
  patienceMs?: number
  onUp?: (endpoint: string) => void
  /** Not called by `close`. */
  onDown?: (reason: Error) => void
  /** A listener that threw. Default: a process warning. */
  onProblem?: (error: Error) => void
}

export interface Result {
  /** Of an insert. */
  uuid?: string
  /** Of update, mutate and delete. */
  count?: number
  /** Of select. */
  rows?: Row[]
}

/** A change of a monitored row; `table` tells its type. */
export type TypedChange<T extends AnyTables, C extends Columns<T>> = {
  [N in keyof C & keyof T & string]: {
    table: N
    uuid: string
    before: Pick<T[N], C[N] extends readonly (infer K extends keyof T[N])[] ? K : never> | null
    after: Pick<T[N], C[N] extends readonly (infer K extends keyof T[N])[] ? K : never> | null
  }
}[keyof C & keyof T & string]
export type Columns<T extends AnyTables> = { [N in keyof T & string]?: readonly (keyof T[N] & string)[] }
export type Replica<T extends AnyTables, C extends Columns<T>> = {
  readonly [N in keyof C & keyof T & string]: ReadonlyMap<
    string,
    Pick<T[N], C[N] extends readonly (infer K extends keyof T[N])[] ? K : never>
  >
}

export interface Monitored<T extends AnyTables, C extends Columns<T>> {
  /** Rows by UUID. While the server cannot be reached they are as they were. */
  readonly tables: Replica<T, C>
  until: Monitor['until']
}

interface Session {
  connection: Connection
  schema: Schema
}

const CONNECT_MS = 5_000
const CALL_MS = 30_000
const PATIENCE_MS = 5_000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000
const SERVER_MONITOR = 'server'

export class Database<T extends AnyTables> {
  private readonly options: DatabaseOptions
  private readonly monitors = new Map<string, Monitor>()
  private readonly waiting = new Set<(session: Session) => void>()
  private readonly ended = new AbortController()
  private session: Session | undefined
  private lastReason: Error | undefined
  private downSince = performance.now()

  constructor(options: DatabaseOptions) {
    this.options = options
    if (options.endpoints.length === 0) throw new TypeError('a database needs an endpoint')
    void this.stayConnected()
  }

  /** All operations or none. Rejects with RefusedError if one cannot be done, and with an outcome `unknown` if no reply came. */
  async transact(operations: readonly Operation[], options: CallOptions = {}): Promise<Result[]> {
    const { timeoutMs = CALL_MS, signal } = options
    const startedAt = performance.now()
    const { connection, schema } = await this.connected({ timeoutMs, signal })
    const requests = operations.map((each) => each.toJson(schema))
    const left = Math.max(1, timeoutMs - (performance.now() - startedAt))
    const reply = await connection.call('transact', [this.options.name, ...requests], { timeoutMs: left, signal })
    return readResults(schema, operations, reply)
  }

  /** Resolves when the first contents are there. */
  async monitor<const C extends Columns<T>>(
    columns: C,
    onChange: (changes: TypedChange<T, C>[]) => void = () => {},
    options: CallOptions = {},
  ): Promise<Monitored<T, C>> {
    const id = `monitor-${this.monitors.size + 1}`
    const report = (changes: RowChange[]): void => {
      try {
        onChange(changes as unknown as TypedChange<T, C>[])
      } catch (error) {
        this.problem(error as Error)
      }
    }
    const monitor = new Monitor({
      database: this.options.name,
      id,
      columns: columns as Record<string, readonly string[]>,
      onChange: report,
    })
    const { timeoutMs = CALL_MS, signal } = options
    const { connection, schema } = await this.connected({ timeoutMs, signal })
    this.monitors.set(id, monitor)
    // If the connection is lost here, the next one starts it.
    await monitor.start(connection, schema).catch((error: unknown) => {
      if (error instanceof ConnectionLostError) return
      this.monitors.delete(id)
      throw error
    })
    await monitor.until('the first contents', () => true, { timeoutMs, signal })
    const tables = Object.fromEntries(monitor.rows) as unknown as Replica<T, C>
    return { tables, until: (...args) => monitor.until(...args) }
  }

  /** Resolves when the database can be reached. */
  async whenUp(options: CallOptions = {}): Promise<void> {
    await this.connected({ timeoutMs: options.timeoutMs ?? CALL_MS, signal: options.signal })
  }

  close(): void {
    this.ended.abort()
    this.session?.connection.close()
  }

  private connected({ timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal | undefined }): Promise<Session> {
    return new Promise((resolve, reject) => {
      const isEnded = this.ended.signal.aborted
      if (isEnded) return reject(new ConnectionLostError('the database was closed', { outcome: 'not sent' }))
      if (this.session) return resolve(this.session)
      const patienceMs = Math.max(0, this.downSince + (this.options.patienceMs ?? PATIENCE_MS) - performance.now())
      const waitMs = Math.ceil(Math.min(timeoutMs, patienceMs))
      const any = AbortSignal.any([this.ended.signal, AbortSignal.timeout(waitMs), ...(signal ? [signal] : [])])
      const settle = (session: Session): void => {
        this.waiting.delete(settle)
        any.removeEventListener('abort', onAbort)
        resolve(session)
      }
      const onAbort = (): void => {
        this.waiting.delete(settle)
        reject(this.notConnected(signal))
      }
      if (any.aborted) return onAbort()
      any.addEventListener('abort', onAbort, { once: true })
      this.waiting.add(settle)
    })
  }

  private notConnected(signal: AbortSignal | undefined): OvsdbError {
    if (signal?.aborted) return new CancelledError(`${this.options.name}: cancelled`, { outcome: 'not sent', cause: signal.reason })
    if (this.ended.signal.aborted) return new ConnectionLostError('the database was closed', { outcome: 'not sent' })
    const seconds = ((performance.now() - this.downSince) / 1000).toFixed(1)
    const reason = this.lastReason ? `: ${this.lastReason.message}` : ''
    return new ConnectionLostError(`${this.options.name} cannot be reached since ${seconds} s${reason}`, {
      outcome: 'not sent',
      cause: this.lastReason,
    })
  }

  private async stayConnected(): Promise<void> {
    const { endpoints } = this.options
    let pauseMs = FIRST_PAUSE_MS
    for (let tried = 0; !this.ended.signal.aborted; tried++) {
      const endpoint = endpoints[tried % endpoints.length]!
      const reason = await this.serve(endpoint, () => (pauseMs = FIRST_PAUSE_MS)).catch((error: unknown) => error as Error)
      this.lastReason = reason
      // A member that is no leader knows that soon; the others are asked before the pause.
      if ((tried + 1) % endpoints.length !== 0) continue
      await pause(pauseMs * (0.75 + Math.random() / 2), this.ended.signal)
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
  }

  /** Connects, and resolves to the reason when the connection is lost. Rejects if there was none. */
  private async serve(endpoint: Endpoint, onUp: () => void): Promise<Error> {
    const socket = await endpoint.connect(this.options.connectTimeoutMs ?? CONNECT_MS)
    const closed = Promise.withResolvers<Error>()
    const connection: Connection = new Connection(socket, {
      ...(this.options.idleMs === undefined ? {} : { idleMs: this.options.idleMs }),
      onClosed: closed.resolve,
      onNotification: (method, params) => this.notified(connection, method, params),
    })
    try {
      const session = await this.start(connection)
      if (this.ended.signal.aborted) throw new ConnectionLostError('the database was closed', { outcome: 'not sent' })
      this.session = session
      onUp()
      this.guarded(() => this.options.onUp?.(endpoint.description))
      for (const settle of this.waiting) settle(session)
      return await closed.promise
    } finally {
      connection.close()
      const wasUp = this.session?.connection === connection
      this.session = undefined
      if (wasUp) this.downSince = performance.now()
      if (wasUp && !this.ended.signal.aborted) void closed.promise.then((reason) => this.guarded(() => this.options.onDown?.(reason)))
    }
  }

  private async start(connection: Connection): Promise<Session> {
    const timeoutMs = this.options.connectTimeoutMs ?? CONNECT_MS
    const member = { Database: [{ columns: ['name', 'model', 'connected', 'leader'] }] }
    const states = await connection.call('monitor_cond', ['_Server', [SERVER_MONITOR], member], { timeoutMs })
    this.readServerState(states)
    const schema = parseSchema(await connection.call('get_schema', [this.options.name], { timeoutMs }))
    for (const monitor of this.monitors.values()) await monitor.start(connection, schema)
    return { connection, schema }
  }

  private notified(connection: Connection, method: string, params: unknown[]): void {
    const [[id] = []] = params as [string[]?]
    if (method === 'update2' && id === SERVER_MONITOR) {
      try {
        this.readServerState(params[1])
      } catch (error) {
        connection.close(error as Error)
      }
    } else if (method === 'update3') {
      this.monitors.get(id ?? '')?.receive(params[1] as string, params[2] as never)
    }
  }

  /** Throws where the server has no right to speak for the database. A change tells only what changed. */
  private readServerState(updates: unknown): void {
    const rows = Object.values((updates as { Database?: Record<string, Record<string, Record<string, unknown> | null>> }).Database ?? {})
    for (const update of rows) {
      const row = update['initial'] ?? update['insert'] ?? update['modify'] ?? {}
      const isOurs = row['name'] === this.options.name && row['model'] === 'clustered'
      // The default value, false, is left out of a first row, and a change that is not about it leaves it out too.
      const isFirst = update['initial'] ?? update['insert']
      if (isFirst && isOurs && (row['connected'] !== true || row['leader'] !== true)) throw notLeader()
      if (!isFirst && (row['connected'] === false || row['leader'] === false)) throw notLeader()
    }
  }

  private guarded(listener: () => void): void {
    try {
      listener()
    } catch (error) {
      this.problem(error as Error)
    }
  }

  private problem(error: Error): void {
    if (this.options.onProblem) this.options.onProblem(error)
    else process.emitWarning(error)
  }
}

const notLeader = (): ConnectionLostError => new ConnectionLostError('the server is not the leader of its cluster', { outcome: 'unknown' })

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  })

/** A failed transaction has an error in the place of the operation's result, or after all results. */
function readResults(schema: Schema, operations: readonly Operation[], reply: unknown): Result[] {
  if (!Array.isArray(reply)) throw new ProtocolError('the server sent no list of results')
  const results = reply as (Record<string, unknown> | null)[]
  const failed = results.findIndex((each) => each !== null && 'error' in each)
  if (failed >= 0) {
    const operation = operations[failed]
    throw refusal(operation ? `${operation.op} ${operation.table ?? ''}`.trim() : 'transact', results[failed], operation ? failed : null)
  }
  return operations.map((operation, i) => readResult(schema, operation, results[i] ?? {}))
}

function readResult(schema: Schema, { table }: Operation, result: Record<string, unknown>): Result {
  if (Array.isArray(result['uuid'])) return { uuid: String(result['uuid'][1]) }
  if (Array.isArray(result['rows'])) return { rows: result['rows'].map((row) => decodeRow(schema, table ?? '', row)) }
  return typeof result['count'] === 'number' ? { count: result['count'] } : {}
}
