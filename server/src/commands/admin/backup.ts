// `backup` and `restore` of the control plane's data. VM disks and template images are not included.
import type { Command } from 'commander'
import { existsSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { migrateAndSeed, MIGRATIONS } from '../../database.ts'
import { FORMAT, type Head } from '../../kernel/dump/format.ts'
import { inspectArchive, restoreDump, dropAllSchemas, requireEmpty } from '../../kernel/dump/restore.ts'
import { writeArchive } from '../../kernel/dump/dump.ts'
import { systemClock } from '../../kernel/clock.ts'
import { openDb, sql } from '../../kernel/database/db.ts'
import { clearFingerprint, keyFingerprint, storedFingerprint } from '../../kernel/database/master-key.ts'
import { knownMigrations, migrate } from '../../kernel/database/migrate.ts'
import { VERSION } from '../../kernel/version.ts'
import { adminCommand, loadConfig, withExample, type Admin } from '../admin-command.ts'
import { requireServer, withDatabaseUrl } from '../database.ts'
import { UsageError } from '../errors.ts'
import { show, type Result } from '../output.ts'

export const KIND = 'backup of Berth'
/** The queue is rebuilt from workflow_runs, rate-limit counters live for a minute, and migrations are applied instead of copied. */
export const EXCLUDED = { schemas: ['pgboss'], tables: ['schema_migrations'] }

export function backupCommands(program: Command): void {
  adminCommand(
    program
      .command('backup')
      .description('back up the control plane into a file while it runs; the master key must be kept separately')
      .argument('<file>'),
    'backup /var/backups/berth-2027-01-31.gz',
    backup,
  )
  withExample(
    program
      .command('restore')
      .description('fill an empty database from a backup')
      .argument('<file>')
      .option('--without-key', 'restore without the master key: webhook and two-factor secrets are lost')
      .option('--json', 'print JSON'),
    'restore /var/backups/berth-2027-01-31.gz',
  ).action(async (file: string, { withoutKey = false, json = false }: { withoutKey?: boolean; json?: boolean }) =>
    show(await restore(loadConfig(), file, withoutKey), json),
  )
}

async function backup({ db, config }: Admin, _options: object, file = ''): Promise<Result> {
  if (existsSync(file)) throw new UsageError(`${file} already exists: choose another name`)
  const migrations = await db.many<{ name: string; checksum: string }>(sql`select name, checksum from schema_migrations order by name`)
  const head = {
    archive: KIND,
    format: FORMAT,
    version: VERSION,
    createdAt: systemClock.now().toISOString(),
    migrations,
    key: (await storedFingerprint(db))?.toString('hex') ?? localKeyFingerprint(config),
  }
  const { tables, rows, sha256 } = await writeArchive(db.url, file, head, EXCLUDED)
  const also = [
    config.masterKeyFile,
    `Without it the secrets of webhooks and of two-factor sign-in cannot be decrypted. The backup does not contain the images of templates (${config.imagesDir}),`,
    'which can be built or imported again, the certificates of hosts, or the disks and backups of VMs, which are on their hosts.',
  ]
  return {
    data: { file, tables, rows, sha256, masterKeyFile: config.masterKeyFile },
    text: `${rows} rows of ${tables} tables were written to ${file}\nStore this file as well, in another place: ${also.join('\n')}`,
  }
}

async function restore(config: Config, file: string, withoutKey: boolean): Promise<Result> {
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}`)
  const { head } = await inspectArchive(file, KIND)
  requireKnown(head)
  if (!withoutKey) requireKey(config, head)
  const rows = await withDatabaseUrl(config, async (url) => {
    await requireServer(url)
    await requireEmpty(url)
    try {
      await migrate(url, MIGRATIONS, new Set(head.migrations.map(({ name }) => name)))
      const loaded = await restoreDump(url, file, EXCLUDED)
      await migrateAndSeed(config, url)
      if (withoutKey) await clearKeyFingerprint(url)
      return loaded
    } catch (error) {
      await dropAllSchemas(url) // leaves an empty database, so that the restore can be retried
      throw error
    }
  })
  const text = `${rows} rows of ${head.createdAt} were restored. Start Berth: it reconciles hosts, VMs and open actions`
  return { data: { file, rows, version: head.version, createdAt: head.createdAt }, text }
}

function requireKnown({ version, migrations }: Head): void {
  const known = new Map(knownMigrations(MIGRATIONS).map(({ name, checksum }) => [name, checksum]))
  const unknown = migrations.find(({ name, checksum }) => known.get(name) !== checksum)
  if (unknown)
    throw new Error(
      `The backup was made by version ${version} and contains the unknown migration ${unknown.name}. Restore it with that version`,
    )
}

const localKeyFingerprint = ({ masterKeyFile }: Config): string | null =>
  existsSync(masterKeyFile) ? keyFingerprint(masterKeyFile).toString('hex') : null

function requireKey(config: Config, { key }: Head): void {
  if (key === null || localKeyFingerprint(config) === key) return
  const what = existsSync(config.masterKeyFile) ? 'is not the one of this backup' : 'is missing'
  throw new Error(
    `The master key ${config.masterKeyFile} ${what}. Put the right one there first, or restore without the secrets: --without-key`,
  )
}

async function clearKeyFingerprint(url: string): Promise<void> {
  const db = openDb({ url, maxConnections: 1, onError: () => {} })
  await clearFingerprint(db).finally(() => db.close())
}
