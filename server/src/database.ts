// Brings the database to the state this version needs: schema, the queue's tables, and a catalog.
import { join } from 'node:path'
import type { Config } from './config.ts'
import { seedDatabase } from './features/seed.ts'
import { openDb, sql, type Db, type Queries } from './kernel/database/db.ts'
import {
  contractedBy,
  lastNumber,
  migrate,
  missingMigration,
  unknownContract,
  type Migrated,
  type MigrateOptions,
} from './kernel/database/migrate.ts'
import { nameConnections, START_LOCK } from './kernel/database/named-connections.ts'
import { createTestClock, readClock } from './kernel/database/test-clock.ts'

export const MIGRATIONS = join(import.meta.dirname, '../migrations')

const UNDEFINED_TABLE = '42P01'

/** Safe to run concurrently from several processes. */
export async function migrateAndSeed(
  config: Pick<Config, 'catalogFile' | 'hypervisor'> & Partial<Pick<Config, 'testClock'>>,
  url: string,
  options: Pick<MigrateOptions, 'contract'> = {},
): Promise<Migrated> {
  const migrated = await migrate(url, MIGRATIONS, options)
  const { prepareQueue } = await import('./workflow/engine.ts')
  await prepareQueue(url)
  const db = openDb({ url, maxConnections: 1, onError: () => {} })
  try {
    await seedDatabase(db, await timeOf(db, config.testClock ?? false), config)
  } finally {
    await db.close()
  }
  return migrated
}

/** Only an empty database, without even a catalog, gets a test clock. */
async function timeOf(db: Queries, testClock: boolean): Promise<Date> {
  if (testClock) await createTestClock(db, (await db.maybe(sql`select from catalog_values limit 1`)) === undefined)
  return readClock(db, testClock)
}

/** What this version needs and the database does not have, or null. */
export async function findPendingUpgrade(db: Queries): Promise<string | null> {
  try {
    const migration = await missingMigration(db, MIGRATIONS)
    return migration ?? ((await db.maybe(sql`select from catalog_values limit 1`)) ? null : 'the catalog')
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return 'every migration'
    throw error
  }
}

/** For processes that leave migrations to the operator. */
export async function requireMigrated(db: Db): Promise<void> {
  const missing = await findPendingUpgrade(db)
  if (missing) throw new Error(`The database is not up to date: ${missing} is missing. Run: npx berthd migrate`)
  await db.tx(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock_shared(${START_LOCK})`)
    const contract = await unknownContract(tx, MIGRATIONS)
    if (contract) throw new Error(contractedBy(contract))
  })
}

export const nameProgram = (url: string, program: string): string => nameConnections(url, program, lastNumber(MIGRATIONS))
