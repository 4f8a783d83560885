// Forward-only migrations: the numbered .sql files of a folder, each applied once, in order, in a transaction of its own, under one
// lock, so that any number of processes may start at the same moment.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { sha256 } from '../crypto.ts'
import { sql, type Queries } from './db.ts'

const LOCK = 7_238_411

export interface Migrated {
  version: string
  applied: string[]
}

/** `only`: as far as another database had come. */
export async function migrate(url: string, folder: string, only?: Set<string>): Promise<Migrated> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    return await applyMissing(
      client,
      knownMigrations(folder).filter(({ name }) => only?.has(name) ?? true),
    )
  } finally {
    await client.end() // releases the lock
  }
}

interface Migration {
  name: string
  text: string
  checksum: string
}

export function knownMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'))
  return files.sort().map((file) => {
    const text = readFileSync(join(folder, file), 'utf8')
    return { name: file.slice(0, -4), text, checksum: sha256(text).toString('hex') }
  })
}

async function applyMissing(client: pg.Client, migrations: Migration[]): Promise<Migrated> {
  await client.query(`create table if not exists schema_migrations
    (name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
  const { rows } = await client.query<{ name: string; checksum: string }>('select name, checksum from schema_migrations')
  const done = new Map(rows.map((row) => [row.name, row.checksum]))
  const known = new Set(migrations.map((migration) => migration.name))
  const stranger = rows.find((row) => !known.has(row.name))
  if (stranger) throw new Error(`The database has migration ${stranger.name}, which this version does not know. Start the newer version`)
  const applied: string[] = []
  for (const migration of migrations) {
    const checksum = done.get(migration.name)
    if (checksum === undefined) applied.push(await apply(client, migration))
    else if (checksum !== migration.checksum) throw new Error(`Migration ${migration.name} was changed after it had been applied`)
  }
  return { version: migrations.at(-1)?.name ?? 'none', applied }
}

async function apply(client: pg.Client, { name, text, checksum }: Migration): Promise<string> {
  await client.query('begin')
  try {
    await client.query(text)
    await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [name, checksum])
    await client.query('commit')
    return name
  } catch (error) {
    await client.query('rollback')
    throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error })
  }
}

/** The first migration of the folder that the database lacks, or null when it is up to date. */
export async function missingMigration(db: Queries, folder: string): Promise<string | null> {
  const rows = await db.many<{ name: string }>(sql`select name from schema_migrations`)
  const applied = new Set(rows.map((row) => row.name))
  return knownMigrations(folder).find((migration) => !applied.has(migration.name))?.name ?? null
}
