// Forward-only migrations: the numbered .sql files of a folder, each applied once, in order, in a transaction of its own, under one
// advisory lock, so that any number of processes may start at the same moment. An applied migration is known by its file name, number
// included, and by the checksum of its text.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { stopwatch } from '../clock.ts'
import { sha256 } from '../crypto.ts'
import { sql, type Queries } from './db.ts'

const ADVISORY_LOCK = 7_238_411

/**
 * A statement that waits for a table lock queues every later statement on that table behind itself. So it waits briefly, lets the queue
 * pass, and tries again; in total longer than any transaction of the product may last (30 s per statement, 60 s idle).
 */
export interface LockWait {
  timeoutMs: number
  /** Between two attempts, growing up to the last value. */
  pausesMs: number[]
  totalMs: number
}

const LOCK_WAIT: LockWait = { timeoutMs: 300, pausesMs: [200, 500, 1_000, 2_000], totalMs: 150_000 }

export interface Migrated {
  version: string
  applied: string[]
}

/** `only`: the migrations that another database had, to build its schema again. */
export async function migrate(url: string, folder: string, only?: Set<string>, lockWait = LOCK_WAIT): Promise<Migrated> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCK])
    const migrations = knownMigrations(folder).filter(({ name }) => only?.has(name) ?? true)
    return await applyPending(client, migrations, (migration) => applyWithRetries(url, client, migration, lockWait))
  } finally {
    await client.end() // releases the advisory lock
  }
}

interface Migration {
  number: string
  name: string
  text: string
  checksum: string
}

const numberOf = (name: string): string => name.slice(0, name.indexOf('_'))

export function knownMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'))
  const migrations = files.sort().map((file) => {
    if (!/^\d{4}_[a-z0-9_]+\.sql$/.test(file)) throw new Error(`Migration file ${file} must be named like 0042_add_a_column.sql`)
    const text = readFileSync(join(folder, file), 'utf8')
    const name = file.slice(0, -4)
    return { number: numberOf(name), name, text, checksum: sha256(text).toString('hex') }
  })
  const twin = migrations.find((migration, i) => migrations[i - 1]?.number === migration.number)
  if (twin) throw new Error(`Two migrations have number ${twin.number}. Give ${twin.name} the next free number`)
  return migrations
}

type Applied = Pick<Migration, 'name' | 'checksum'>

async function applyPending(client: pg.Client, migrations: Migration[], apply: (migration: Migration) => Promise<void>): Promise<Migrated> {
  await client.query(`create table if not exists schema_migrations
    (name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
  const { rows } = await client.query<Applied>('select name, checksum from schema_migrations order by name')
  const pending = pendingAfter(rows, migrations)
  for (const migration of pending) await apply(migration)
  return { version: migrations.at(-1)?.name ?? 'none', applied: pending.map(({ name }) => name) }
}

/** The migrations to apply; throws unless what the database has is the beginning of what this version has, unchanged. */
function pendingAfter(applied: Applied[], migrations: Migration[]): Migration[] {
  const known = new Map(migrations.map((migration) => [migration.number, migration]))
  for (const { name, checksum } of applied) {
    const file = known.get(numberOf(name))
    if (!file) throw new Error(`The database has migration ${name}, which this version does not know. Start the newer version`)
    if (file.name !== name)
      throw new Error(`Migration ${name} was applied to this database, and its file is now named ${file.name}. Rename the file back`)
    if (file.checksum !== checksum)
      throw new Error(
        `Migration ${name} was edited after it had been applied to this database. ` +
          'Restore the file as it was, and make the change in a new migration',
      )
    known.delete(file.number)
  }
  const pending = [...known.values()]
  const last = applied.at(-1)
  if (last && pending[0] && pending[0].name < last.name)
    throw new Error(`Migration ${pending[0].name} comes before ${last.name}, which was already applied. Give it the next free number`)
  return pending
}

const LOCK_NOT_AVAILABLE = '55P03'

async function applyWithRetries(url: string, client: pg.Client, migration: Migration, lockWait: LockWait): Promise<void> {
  const elapsedMs = stopwatch()
  for (let attempt = 0; ; attempt++) {
    const blockers = watchBlockers(url, client, lockWait.timeoutMs / 3)
    try {
      return await apply(client, migration, lockWait.timeoutMs)
    } catch (error) {
      const isLocked = (error as { code?: string }).code === LOCK_NOT_AVAILABLE
      if (!isLocked) throw new Error(`Migration ${migration.name} failed: ${(error as Error).message}`, { cause: error })
      if (elapsedMs() > lockWait.totalMs)
        throw new Error(`Migration ${migration.name} gave up waiting for a table lock. ${blockers.describe()}`, { cause: error })
    } finally {
      await blockers.stop()
    }
    await pause(lockWait.pausesMs[Math.min(attempt, lockWait.pausesMs.length - 1)])
  }
}

async function apply(client: pg.Client, { name, text, checksum }: Migration, lockTimeoutMs: number): Promise<void> {
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
    await client.query(text)
    await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [name, checksum])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

interface Blocker {
  pid: number
  application_name: string
  state: string
  seconds: number
  query: string
}

/** PostgreSQL names the blockers of a session only while it waits, so a second connection asks meanwhile. */
function watchBlockers(url: string, client: pg.Client, everyMs: number) {
  let observer: pg.Client | undefined
  let last: Blocker[] = []
  const ask = async (): Promise<void> => {
    if (!observer) await (observer = new pg.Client({ connectionString: url })).connect()
    const { rows } = await observer.query<Blocker>(
      `select pid, application_name, state, extract(epoch from now() - xact_start)::int as seconds, left(query, 200) as query
       from pg_stat_activity where pid = any(pg_blocking_pids($1))`,
      [(client as unknown as { processID: number }).processID],
    )
    if (rows.length) last = rows
  }
  let asking = Promise.resolve()
  const timer = setInterval(() => (asking = asking.then(ask).catch(() => {})), everyMs)
  return {
    describe: (): string =>
      last
        .map(({ pid, application_name, state, seconds, query }) => {
          const who = application_name ? `pid ${pid} (${application_name})` : `pid ${pid}`
          return `It is held by ${who}, ${state}, in a transaction for ${seconds} s, last statement: ${query}`
        })
        .concat('End that transaction (select pg_terminate_backend(pid)) and migrate again')
        .join('. '),
    stop: async (): Promise<void> => {
      clearInterval(timer)
      await asking
      await observer?.end()
    },
  }
}

/** The first migration of the folder that the database lacks, or null when it is up to date. */
export async function missingMigration(db: Queries, folder: string): Promise<string | null> {
  const rows = await db.many<{ name: string }>(sql`select name from schema_migrations`)
  const applied = new Set(rows.map((row) => row.name))
  return knownMigrations(folder).find((migration) => !applied.has(migration.name))?.name ?? null
}
