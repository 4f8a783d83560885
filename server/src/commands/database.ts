// The database for a command: the operator's PostgreSQL, the running embedded one, or the embedded one started for this command.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Config } from '../config.ts'
import { findPendingUpgrade, migrateAndSeed, nameProgram, requireMigrated } from '../database.ts'
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

/**
 * Fails when there is no data: with other settings than the service, a command would create an empty database. Waits for one being created.
 */
async function requireData(config: Config): Promise<void> {
  const folder = postgresFolder(config)
  const elapsed = stopwatch()
  while ((await inspectEmbeddedPostgres(folder)).dataVersion === undefined) {
    if (!existsSync(folder) || elapsed() > STARTING_MS)
      throw new Error(
        `There is no database in ${config.dataDir}. Set BERTH_DATABASE_URL or BERTH_DATA_DIR as for the service, or start it first: npm start`,
      )
    await sleep(100)
  }
}

/**
 * Waits while `up` migrates its embedded database at the first start. An external database is migrated by the operator, so it is not waited
 * for.
 */
async function untilUpToDate(config: Config, db: Db): Promise<void> {
  const elapsed = stopwatch()
  while (!config.databaseUrl && elapsed() < STARTING_MS && (await findPendingUpgrade(db))) await sleep(100)
  await requireMigrated(db)
}

/** `ours`: no other process runs this database, so this command migrates it. */
export async function withDatabaseUrl<T>(config: Config, work: (url: string, ours: boolean) => Promise<T>): Promise<T> {
  if (config.databaseUrl) return work(nameProgram(config.databaseUrl, 'command'), false)
  const borrowed = await borrowEmbeddedPostgres({ dataDir: postgresFolder(config) })
  // Stops the PostgreSQL started for this command on Ctrl-C too.
  const interrupted = (): void => void borrowed.stop().finally(() => process.exit(130))
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, interrupted)
  try {
    return await work(nameProgram(borrowed.url, 'command'), borrowed.how !== 'joined')
  } finally {
    await borrowed.stop()
    for (const signal of signals) process.off(signal, interrupted)
  }
}

const MIN_VERSION = 15

/** Returns the version of the operator's PostgreSQL; throws when it is too old. */
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

/** Host and database, without credentials. */
export function describeUrl(url: string): string {
  const { hostname, pathname, searchParams } = new URL(url)
  return `${hostname || searchParams.get('host') || 'localhost'}${pathname}`
}
