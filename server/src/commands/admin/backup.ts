// `backup` and `restore` of the control plane's data. VM disks and template images are not included.
import type { Command } from 'commander'
import { existsSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { migrateAndSeed, MIGRATIONS } from '../../database.ts'
import { FORMAT, type Head, type NewMac } from '../../kernel/dump/format.ts'
import { inspectArchive, restoreDump, dropAllSchemas, requireAuthentic, requireEmpty } from '../../kernel/dump/restore.ts'
import { writeArchive } from '../../kernel/dump/dump.ts'
import { systemClock } from '../../kernel/clock.ts'
import { openVault } from '../../kernel/crypto.ts'
import { openDb, sql } from '../../kernel/database/db.ts'
import { clearFingerprint, keyFingerprint, storedFingerprint } from '../../kernel/database/master-key.ts'
import { knownMigrations, migrate } from '../../kernel/database/migrate.ts'
import { VERSION } from '../../kernel/version.ts'
import { adminCommand, isJson, withExample, withFormat, type Admin, type OutputOptions } from '../admin-command.ts'
import { requireServer, withDatabaseUrl } from '../database.ts'
import { UsageError } from '../errors.ts'
import { loadConfig } from '../load-config.ts'
import { show, type Result } from '../output.ts'

export const KIND = 'backup of Berth'
/** The queue is rebuilt from workflow_runs, migrations are applied instead of copied, and triggers count the idempotency keys again. */
export const EXCLUDED = { schemas: ['pgboss'], tables: ['schema_migrations', 'idempotency_usage'] }

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
    withFormat(
      program
        .command('restore')
        .description('fill an empty database from a backup')
        .argument('<file>')
        .option(
          '--without-key',
          'restore without the master key: webhook and two-factor secrets are lost, and the file is not authenticated',
        )
        .option('--unauthenticated', 'accept a file that the master key does not authenticate: only if nobody else could have written it'),
    ),
    'restore /var/backups/berth-2027-01-31.gz',
  ).action(async (file: string, options: RestoreOptions & OutputOptions) =>
    show(await restore(loadConfig(), file, options), isJson(options)),
  )
}

interface RestoreOptions {
  withoutKey?: boolean
  unauthenticated?: boolean
}

async function backup({ db, config }: Admin, _options: object, file = ''): Promise<Result> {
  if (existsSync(file)) throw new UsageError(`${file} already exists: choose another name`)
  const migrations = await db.many<{ name: string; checksum: string }>(sql`select name, checksum from schema_migrations order by name`)
  const stored = (await storedFingerprint(db))?.toString('hex')
  const local = localKeyFingerprint(config)
  // Another key than the installation's would authenticate what no restore accepts.
  const newMac = local !== null && (stored ?? local) === local ? archiveMac(config) : null
  const head = {
    archive: KIND,
    format: FORMAT,
    version: VERSION,
    createdAt: systemClock.now().toISOString(),
    migrations,
    key: stored ?? local,
  }
  const { tables, rows, sha256 } = await writeArchive(db.url, file, head, EXCLUDED, newMac)
  const also = [
    config.masterKeyFile,
    `Without it the file cannot be authenticated, and the secrets of webhooks and of two-factor sign-in cannot be decrypted. The backup does not contain the images of templates (${config.imagesDir}),`,
    'which can be built or imported again, the certificates of hosts, or the disks and backups of VMs, which are on their hosts.',
  ]
  const unsigned = newMac
    ? ''
    : `\nThe master key ${config.masterKeyFile} is not here: nothing authenticates this backup, and restoring it needs --unauthenticated`
  return {
    data: { file, tables, rows, sha256, authenticated: newMac !== null, masterKeyFile: config.masterKeyFile },
    text: `${rows} rows of ${tables} tables were written to ${file}${unsigned}\nStore this file as well, in another place: ${also.join('\n')}`,
  }
}

async function restore(config: Config, file: string, { withoutKey = false, unauthenticated = false }: RestoreOptions): Promise<Result> {
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}`)
  const newMac = withoutKey || unauthenticated ? null : archiveMac(config)
  if (newMac) await requireAuthentic(file, newMac)
  const { head } = await inspectArchive(file, KIND, newMac)
  requireKnown(head)
  if (!withoutKey) requireKey(config, head)
  const rows = await withDatabaseUrl(config, async (url) => {
    await requireServer(url)
    await requireEmpty(url)
    try {
      await migrate(url, MIGRATIONS, new Set(head.migrations.map(({ name }) => name)))
      const loaded = await restoreDump(url, file, EXCLUDED, newMac)
      await migrateAndSeed(config, url)
      if (withoutKey) await clearKeyFingerprint(url)
      return loaded
    } catch (error) {
      await dropAllSchemas(url) // leaves an empty database, so that the restore can be retried
      throw error
    }
  })
  const origin = newMac ? 'authenticated by the master key' : 'which nothing authenticates'
  const text = `${rows} rows of ${head.createdAt}, ${origin}, were restored. Start Berth: it reconciles hosts, VMs and open actions`
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

/** Fails when there is no key: opening it would create another one. */
function archiveMac({ masterKeyFile }: Config): NewMac {
  if (!existsSync(masterKeyFile)) throw missingKey(masterKeyFile, 'is missing')
  const vault = openVault(masterKeyFile)
  return () => vault.hmac('backup archive')
}

const localKeyFingerprint = ({ masterKeyFile }: Config): string | null =>
  existsSync(masterKeyFile) ? keyFingerprint(masterKeyFile).toString('hex') : null

function requireKey(config: Config, { key }: Head): void {
  if (key === null || localKeyFingerprint(config) === key) return
  throw missingKey(config.masterKeyFile, existsSync(config.masterKeyFile) ? 'is not the one of this backup' : 'is missing')
}

const missingKey = (path: string, what: string): Error =>
  new Error(
    `The master key ${path} ${what}. Put the right one there first, or restore without the secrets and unauthenticated: --without-key`,
  )

async function clearKeyFingerprint(url: string): Promise<void> {
  const db = openDb({ url, maxConnections: 1, onError: () => {} })
  await clearFingerprint(db).finally(() => db.close())
}
