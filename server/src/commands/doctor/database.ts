import { readFile, stat } from 'node:fs/promises'
import type { Config } from '../../config.ts'
import { findPendingUpgrade } from '../../database.ts'
import { systemClock } from '../../kernel/clock.ts'
import { openDb, sql, type Db } from '../../kernel/database/db.ts'
import { inspectEmbeddedPostgres } from '../../kernel/postgres/embedded.ts'
import { keyFingerprint, storedFingerprint } from '../../kernel/database/master-key.ts'
import { describeUrl, postgresFolder, requireServer, withDatabaseUrl } from '../database.ts'
import { explain } from '../errors.ts'
import { failure, ok, warning, type Check, type Finding } from './check.ts'

/** No data yet is no problem: the first start creates it. */
const none = (what: string): Finding => ok(`${what}: no data yet, npm start creates it`)

async function hasNoData(config: Config): Promise<boolean> {
  return config.databaseUrl === null && (await inspectEmbeddedPostgres(postgresFolder(config))).dataVersion === undefined
}

export const database: Check = async (config) => {
  if (await hasNoData(config)) return none('database')
  const where = config.databaseUrl ? `at ${describeUrl(config.databaseUrl)}` : '(embedded)'
  try {
    return ok(`PostgreSQL ${await withDatabaseUrl(config, requireServer)} ${where}`)
  } catch (error) {
    return failure(explain(error), config.databaseUrl ? 'check BERTH_DATABASE_URL' : `see ${postgresFolder(config)}/postgres.log`)
  }
}

export const databaseCheck = (what: string, into: (db: Db, ours: boolean) => Promise<Finding>): Check => {
  return async (config) => {
    if (await hasNoData(config)) return none(what)
    return withDatabaseUrl(config, async (url, ours) => {
      const db = openDb({ url, maxConnections: 1, onError: () => {} })
      return into(db, ours).finally(() => db.close())
    }).catch((error: unknown) => failure(`${what}: check failed. ${explain(error)}`, 'fix the database first: npx berthd doctor database'))
  }
}

export const migrations = databaseCheck('migrations', async (db, ours) => {
  const missing = await findPendingUpgrade(db)
  if (missing === null) return ok('the database schema is up to date')
  const message = `the database schema is not up to date: ${missing} is missing`
  return ours ? warning(message, 'npm start applies it') : failure(message, 'npx berthd migrate')
})

const WARNING_MS = 2_000
const FAILURE_MS = 10_000

export const clock = databaseCheck('clock', async (db) => {
  const before = systemClock.now().getTime()
  const { now } = await db.one<{ now: Date }>(sql`select clock_timestamp() as now`)
  const after = systemClock.now().getTime()
  const apart = Math.max(0, before - now.getTime(), now.getTime() - after)
  if (apart < WARNING_MS) return ok('the clocks of this machine and the database agree')
  const message = `the clocks of this machine and the database are ${(apart / 1000).toFixed(1)} s apart`
  const fix = 'synchronise both with NTP: timedatectl set-ntp true'
  return apart < FAILURE_MS ? warning(message, fix) : failure(`${message}: leases of running work would expire early`, fix)
})

const RESTORE_KEY =
  'restore it from your backup, or on another machine that runs Berth on this database: npx berthd join-token; then here: npx berthd join'

export const masterKey: Check = async (config) => {
  const path = config.masterKeyFile
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => null,
  )
  if (mode === null) return missingKey(path)(config)
  if (mode & 0o077) return failure(`other users can read the master key ${path}`, `chmod 600 ${path}`)
  const key = await readFile(path, 'utf8').catch((error: Error) => error)
  if (key instanceof Error) return failure(`the master key ${path} cannot be read: ${key.message}`, `chown it to the user that runs Berth`)
  if (!/^[0-9a-f]{64}\s*$/.test(key)) return failure(`the master key ${path} is damaged`, RESTORE_KEY)
  return matchingKey(path)(config)
}

/** Undefined before the migration (no table) and before the first start (no row). */
const findFingerprint = async (db: Db): Promise<Buffer | undefined> => ((await findPendingUpgrade(db)) ? undefined : storedFingerprint(db))

const missingKey = (path: string): Check =>
  databaseCheck('master key', async (db) =>
    (await findFingerprint(db))
      ? failure(`the master key ${path} is missing`, RESTORE_KEY)
      : warning(
          `there is no master key ${path}`,
          'if this installation had one, restore it, because stored secrets cannot be decrypted without it; otherwise the first start creates it',
        ),
  )

const matchingKey = (path: string): Check =>
  databaseCheck('master key', async (db) => {
    const stored = await findFingerprint(db)
    return !stored || stored.equals(keyFingerprint(path))
      ? ok(`master key ${path}`)
      : failure(`the master key ${path} does not match the key that encrypted the secrets in the database`, RESTORE_KEY)
  })
