// The database of the product, for a command: the operator's own, the embedded one that runs, or the embedded one started for the moment.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Config } from '../config.ts'
import { migrateAndSeed, findPendingUpgrade, requireMigrated } from '../database.ts'
import { sleep, stopwatch } from '../kernel/clock.ts'
import { openDb, type Db } from '../kernel/database/db.ts'
import { borrowEmbeddedPostgres, inspectEmbeddedPostgres } from '../kernel/postgres/embedded.ts'

export const postgresFolder = (config: Config): string => join(config.dataDir, 'postgres')

export async function withDatabase<T>(config: Config, work: (db: Db) => Promise<T>): Promise<T> {
  if (!config.databaseUrl) await requireData(config)
  return withDatabaseUrl(config, async (url, ours) => {
    if (ours) await migrateAndSeed(config, url)
    const db = openDb({ url, maxConnections: 2, onError: () => {} })
    try {
      if (!ours) await untilUpToDate(config, db)
      return await work(db)
    } finally {
      await db.close()
    }
  })
}

const STARTING_MS = 20_000

/** Without the product's settings a command would make, and believe, an empty database of its own. One that is being made is waited for. */
async function requireData(config: Config): Promise<void> {
  const folder = postgresFolder(config)
  const elapsed = stopwatch()
  while ((await inspectEmbeddedPostgres(folder)).dataVersion === undefined) {
    if (!existsSync(folder) || elapsed() > STARTING_MS)
      throw new Error(
        `There is no database in ${config.dataDir}. Set BERTH_DATABASE_URL or BERTH_DATA_DIR as the product has them, or start it first: npm start`,
      )
    await sleep(100)
  }
}

/** A product that is just starting for the first time brings its database up to date in a moment; an operator's is not waited for. */
async function untilUpToDate(config: Config, db: Db): Promise<void> {
  const elapsed = stopwatch()
  while (!config.databaseUrl && elapsed() < STARTING_MS && (await findPendingUpgrade(db))) await sleep(100)
  await requireMigrated(db)
}

/** `ours`: nobody else runs this database, so nobody else is going to bring it up to date. */
export async function withDatabaseUrl<T>(config: Config, work: (url: string, ours: boolean) => Promise<T>): Promise<T> {
  if (config.databaseUrl) return work(config.databaseUrl, false)
  const borrowed = await borrowEmbeddedPostgres({ dataDir: postgresFolder(config) })
  // Ctrl-C must not leave behind a PostgreSQL that was started for this command alone.
  const interrupted = (): void => void borrowed.stop().finally(() => process.exit(130))
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, interrupted)
  try {
    return await work(borrowed.url, borrowed.how !== 'joined')
  } finally {
    await borrowed.stop()
    for (const signal of signals) process.off(signal, interrupted)
  }
}

const MIN_VERSION = 15

/** The version of the operator's own PostgreSQL, which must not be too old for what we ask of it. */
export async function requireServer(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  await client.connect()
  try {
    const { rows } = await client.query<{ version: string }>(`select split_part(current_setting('server_version'), ' ', 1) as version`)
    const version = rows[0]!.version
    if (Number.parseInt(version) >= MIN_VERSION) return version
    throw new Error(`PostgreSQL ${version} is too old: Berth needs ${MIN_VERSION} or later. Upgrade it, or unset BERTH_DATABASE_URL`)
  } finally {
    await client.end()
  }
}

/** Host and database, without the password that the rest may hold. */
export function describeUrl(url: string): string {
  const { hostname, pathname, searchParams } = new URL(url)
  return `${hostname || searchParams.get('host') || 'localhost'}${pathname}`
}
