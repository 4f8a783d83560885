// Forward-only migrations: the numbered .sql files of a folder, each applied once, in order, in a transaction of its own, under one
// advisory lock, so that any number of processes may start at the same moment. An applied migration is known by its file name, number
// included, and by the checksum of its text.
//   an expand: the version before runs with it. All of them are
//   a contract, 0042_contract_notes.sql: the version before does not. It is applied when no such process is connected any more, and the last ones
//     only on request, because until then the version before may be started again
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { stopwatch } from '../clock.ts'
import { sha256 } from '../crypto.ts'
import { sql, type Queries } from './db.ts'
import { VERSION } from '../version.ts'
import { olderPrograms, START_LOCK } from './named-connections.ts'

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
  /** The last migration that the database has. */
  version: string
  applied: string[]
  /** Contracts that were not asked for. */
  waiting: string[]
  /** What the database has and this version does not know. */
  unknown: string[]
}

export interface MigrateOptions {
  /** The migrations that another database had, to build its schema again. */
  only?: Set<string>
  /** The last contracts too. */
  contract?: boolean
  lockWait?: LockWait
}

export async function migrate(url: string, folder: string, options: MigrateOptions = {}): Promise<Migrated> {
  const { only, contract = only !== undefined, lockWait = LOCK_WAIT } = options
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCK])
    const migrations = knownMigrations(folder).filter(({ name }) => only?.has(name) ?? true)
    return await applyPending(client, migrations, contract, (migration) => applyWithRetries(url, client, migration, lockWait))
  } finally {
    await client.end() // releases the advisory lock
  }
}

export const isContract = (name: string): boolean => /^\d{4}_contract_/.test(name)

interface Migration {
  number: string
  name: string
  text: string
  checksum: string
}

const numberOf = (name: string): string => name.slice(0, name.indexOf('_'))

/** The number of the last migration of the folder. */
export const lastNumber = (folder: string): string => numberOf(migrationFiles(folder).at(-1) ?? '0000_none')

const migrationFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()

export function knownMigrations(folder: string): Migration[] {
  const migrations = migrationFiles(folder).map((file) => {
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

async function applyPending(
  client: pg.Client,
  migrations: Migration[],
  contract: boolean,
  apply: (migration: Migration) => Promise<void>,
): Promise<Migrated> {
  await client.query(`create table if not exists schema_migrations
    (name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
  const { rows: before } = await client.query<Applied>('select name, checksum from schema_migrations order by name')
  const { pending, unknown } = compare(before, migrations)
  const isNew = before.length === 0 // no version has used it
  const count = contract || isNew ? pending.length : pending.findLastIndex(({ name }) => !isContract(name)) + 1
  const due = pending.slice(0, count)
  for (const migration of due) await apply(migration)
  return {
    version: due.at(-1)?.name ?? before.at(-1)?.name ?? 'none',
    applied: due.map(({ name }) => name),
    waiting: pending.slice(count).map(({ name }) => name),
    unknown,
  }
}

/**
 * What is to be applied, and what a newer version has added; throws unless the database has the beginning of what this version has, unchanged,
 * or all of it and expands of a newer version.
 */
function compare(applied: Applied[], migrations: Migration[]): { pending: Migration[]; unknown: string[] } {
  const known = new Map(migrations.map((migration) => [migration.number, migration]))
  const unknown: string[] = []
  for (const { name, checksum } of applied) {
    const file = known.get(numberOf(name))
    if (!file) {
      if (isContract(name)) throw new Error(contractedBy(name))
      unknown.push(name)
      continue
    }
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
  return { pending, unknown }
}

/** Why this version cannot run any more. */
export const contractedBy = (name: string): string =>
  `Migration ${name} of a newer version has removed what this version (${VERSION}) uses. Start the newer version, or restore a backup from before it`

const LOCK_NOT_AVAILABLE = '55P03'

async function applyWithRetries(url: string, client: pg.Client, migration: Migration, lockWait: LockWait): Promise<void> {
  const elapsedMs = stopwatch()
  const blockers = watchBlockers(url, client, lockWait.timeoutMs / 3)
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        return await apply(client, migration, lockWait.timeoutMs)
      } catch (error) {
        const isLocked = (error as { code?: string }).code === LOCK_NOT_AVAILABLE
        if (!isLocked) throw new Error(`Migration ${migration.name} failed: ${(error as Error).message}`, { cause: error })
        if (elapsedMs() > lockWait.totalMs)
          throw new Error(`Migration ${migration.name} gave up waiting for a table lock. ${blockers.describe()}`, { cause: error })
      }
      await pause(lockWait.pausesMs[Math.min(attempt, lockWait.pausesMs.length - 1)])
    }
  } finally {
    await blockers.stop()
  }
}

async function apply(client: pg.Client, { name, text, checksum }: Migration, lockTimeoutMs: number): Promise<void> {
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
    if (isContract(name)) await requireKnownByAll(client, name)
    await client.query(text)
    await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [name, checksum])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** Who starts from now on waits, and then sees the contract. */
async function requireKnownByAll(client: pg.Client, name: string): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1)', [START_LOCK])
  const older = await olderPrograms(client, numberOf(name))
  if (older.length > 0)
    throw new Error(
      `it removes what older versions use, and these are connected: ${older.join(', ')}. Replace them by the version that brought it, or stop them, ` +
        'and migrate again',
    )
}

interface Blocker {
  pid: number
  application_name: string
  state: string
  seconds: number
  query: string
}

/** PostgreSQL names the blockers of a session only while it waits, so a second connection asks meanwhile, and what it saw last is kept. */
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

/** What the database lacks of the folder, or null when it is up to date: contracts may be applied later. */
export async function missingMigration(db: Queries, folder: string): Promise<string | null> {
  const rows = await db.many<{ name: string }>(sql`select name from schema_migrations`)
  const applied = new Set(rows.map((row) => row.name))
  return knownMigrations(folder).find(({ name }) => !applied.has(name) && !isContract(name))?.name ?? null
}

/** A contract that the database has and this version does not know, or null. */
export async function unknownContract(db: Queries, folder: string): Promise<string | null> {
  const rows = await db.many<{ name: string }>(sql`select name from schema_migrations where name like '%_contract_%' order by name`)
  const last = lastNumber(folder)
  return rows.find(({ name }) => isContract(name) && numberOf(name) > last)?.name ?? null
}
