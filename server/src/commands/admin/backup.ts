// `backup` and `restore` of the control plane's data, in a file or in a backup target. VM disks are not included; images of customers are in targets
// already.
import type { Command } from 'commander'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isTargetError } from '../../backup-target/errors.ts'
import type { Config } from '../../config.ts'
import { migrateAndSeed, MIGRATIONS } from '../../database.ts'
import { getTarget } from '../../features/backup-targets/service.ts'
import {
  backUpControlPlane,
  EXCLUDED,
  fetchArchive,
  KIND,
  listStored,
  macOf,
  openControlPlaneBackups,
  ownImagesOutside,
  setControlPlaneDays,
  listControlPlaneBackups,
  writeControlPlane,
} from '../../features/control-plane-backups/service.ts'
import type { Head, NewMac } from '../../kernel/dump/format.ts'
import { inspectArchive, restoreDump, dropAllSchemas, requireAuthentic, requireEmpty } from '../../kernel/dump/restore.ts'
import { openVault, type Vault } from '../../kernel/crypto.ts'
import { openDb, sql } from '../../kernel/database/db.ts'
import { clearFingerprint, keyFingerprint, storedFingerprint } from '../../kernel/database/master-key.ts'
import { knownMigrations, migrate } from '../../kernel/database/migrate.ts'
import { adminCommand, isJson, withCore, withExample, withFormat, type Admin, type OutputOptions } from '../admin-command.ts'
import { requireServer, withDatabaseUrl } from '../database.ts'
import { UsageError } from '../errors.ts'
import { loadConfig } from '../load-config.ts'
import { show, table, type Result } from '../output.ts'
import { onlyRegion } from './only-region.ts'
import { readSecret } from './read-secret.ts'

export function backupCommands(program: Command): void {
  adminCommand(
    program
      .command('backup')
      .description('back up the control plane while it runs, into a file or a backup target; the master key must be kept separately')
      .argument('[file]')
      .option('--target', 'into the backup target of a region, encrypted')
      .option('--region <slug>', 'of the target; by default the only one'),
    'backup /var/backups/berth-2027-01-31.gz',
    backup,
  )
  withExample(
    withFormat(
      program
        .command('restore')
        .description('fill an empty database from a backup')
        .argument('[file]')
        .option('--from <url>', 'instead of a file: a backup target, as https://server/bucket or https://server/bucket/prefix/')
        .option('--access-key <id>', 'of the bucket')
        .option('--secret-file <file>', 'holds the secret key; - reads it from standard input')
        .option('--region-name <name>', 'in signatures', 'us-east-1')
        .option('--at <time>', 'the one of that time, as listed; by default the newest')
        .option('--list', 'only list what is in the target')
        .option(
          '--without-key',
          'restore without the master key: webhook and two-factor secrets and certificates for hosts are lost, and the file is not authenticated',
        )
        .option('--unauthenticated', 'accept a file that the master key does not authenticate: only if nobody else could have written it'),
    ),
    'restore /var/backups/berth-2027-01-31.gz',
  ).action(async (file: string | undefined, options: RestoreOptions & OutputOptions) =>
    show(await restoreFrom(loadConfig(), file, options), isJson(options)),
  )
}

interface BackupOptions {
  target?: boolean
  region?: string
}

interface RestoreOptions {
  from?: string
  accessKey?: string
  secretFile?: string
  regionName?: string
  at?: string
  list?: boolean
  withoutKey?: boolean
  unauthenticated?: boolean
}

async function backup(admin: Admin, { target, region }: BackupOptions, file?: string): Promise<Result> {
  if ((file === undefined) !== (target === true)) throw new UsageError('Give either a file or --target')
  return file === undefined ? backUpToTarget(admin, region) : backUpToFile(admin, file)
}

async function backUpToFile({ db, config }: Admin, file: string): Promise<Result> {
  if (existsSync(file)) throw new UsageError(`${file} already exists: choose another name`)
  const stored = (await storedFingerprint(db))?.toString('hex')
  const local = localKeyFingerprint(config)
  // Another key than the installation's would authenticate what no restore accepts.
  const newMac = local !== null && (stored ?? local) === local ? archiveMac(config) : null
  const { tables, rows, sha256 } = await writeControlPlane(db, file, newMac, local)
  const unsigned = newMac
    ? ''
    : `\nThe master key ${config.masterKeyFile} is not here: nothing authenticates this backup, and restoring it needs --unauthenticated`
  return {
    data: {
      file,
      tables,
      rows,
      sha256,
      authenticated: newMac !== null,
      masterKeyFile: config.masterKeyFile,
      missing: await missingIn(db, null),
    },
    text: `${rows} rows of ${tables} tables were written to ${file}${unsigned}\nStore this file as well, in another place: ${config.masterKeyFile}\nWithout it the file cannot be authenticated, and the secrets of webhooks and of two-factor sign-in and the certificates for hosts cannot be decrypted.\n${await notIncluded({ db, config }, null)}`,
  }
}

async function backUpToTarget(admin: Admin, region: string | undefined): Promise<Result> {
  const { db, config, now } = admin
  const target = await getTarget(db, region ?? (await onlyRegion(db)))
  if (!(await listControlPlaneBackups(db)).some(({ target_id }) => target_id === target.id))
    await setControlPlaneDays(db, now, target.id, null)
  const stored = await withCore(admin, (deps) => backUpControlPlane(deps, target, new AbortController().signal))
  const lines = [
    `${stored.rows} rows are in the bucket ${target.bucket} as ${stored.id}, encrypted: ${stored.addedBytes} bytes.`,
    `Keep the master key ${config.masterKeyFile} in another place, and the access to the bucket: without either nobody can restore it.`,
    await notIncluded(admin, target.id),
  ]
  return { data: { ...stored, bucket: target.bucket, missing: await missingIn(db, target.id) }, text: lines.join('\n') }
}

/** `targetId`: null for none. */
const missingIn = async (db: Admin['db'], targetId: string | null) => {
  const { count, bytes } = await ownImagesOutside(db, targetId)
  return { ownImages: count, ownImagesBytes: Number(bytes) }
}

async function notIncluded({ db, config }: Pick<Admin, 'db' | 'config'>, targetId: string | null): Promise<string> {
  const { ownImages: count, ownImagesBytes } = await missingIn(db, targetId)
  const what =
    targetId === null
      ? `Not included are the images (${config.imagesDir}), and the disks and backups of VMs.`
      : 'Not included are the disks of VMs; backups of VMs in this region, and images, are in the bucket beside it.'
  if (count === 0) return what
  const where = targetId === null ? 'in no backup target' : 'not in this target yet'
  const images = count === 1 ? '1 image of customers is' : `${count} images of customers are`
  return `${what} ${images} ${where} (${(ownImagesBytes / 2 ** 30).toFixed(1)} GiB): copy ${config.imagesDir} too.`
}

const NOTHING_THERE =
  'There is no backup of a control plane: --from must name the bucket, and the prefix as `npx berthd backup-target list` showed it'

async function restoreFrom(config: Config, file: string | undefined, options: RestoreOptions): Promise<Result> {
  if ((file === undefined) === (options.from === undefined)) throw new UsageError('Give either a file or --from')
  if (file !== undefined) return restore(config, file, options)
  if (options.withoutKey || options.unauthenticated)
    throw new UsageError(
      'What is in a backup target is encrypted: --from needs the master key, without --without-key and --unauthenticated',
    )
  const { signal } = new AbortController()
  if (!existsSync(config.masterKeyFile))
    throw new Error(
      `The master key ${config.masterKeyFile} is missing. Put it there first: without it nothing in a backup target can be read`,
    )
  const vault = openVault(config.masterKeyFile)
  const bucket = await openBucket(options)
  const folder = await mkdtemp(join(tmpdir(), 'berth-restore-'))
  try {
    const repository = await openControlPlaneBackups(bucket, vault, signal).catch((error: unknown) => {
      throw isTargetError(error, 'missing') ? new UsageError(NOTHING_THERE, { cause: error }) : error
    })
    const stored = await listStored(repository, signal)
    if (options.list)
      return table(
        stored.map(({ backupId, sizeBytes }) => ({ at: backupId, sizeBytes })),
        ['at', 'sizeBytes'],
        'There are no backups of a control plane in this target',
      )
    const chosen = stored.find(({ backupId }) => backupId === (options.at ?? backupId))
    if (!chosen)
      throw new UsageError(`There is no such backup of a control plane in this target: see the same command with --list instead of --at`)
    const archive = join(folder, 'archive')
    await fetchArchive(repository, chosen.backupId, archive, signal)
    const { data, text } = await restore(config, archive, options)
    const images = 'Images of customers are fetched from the target when a host needs them'
    return { data: { ...(data as object), file: null, from: options.from, at: chosen.backupId }, text: `${text}\n${images}` }
  } finally {
    bucket.close()
    await rm(folder, { recursive: true })
  }
}

async function openBucket({ from, accessKey, secretFile, regionName }: RestoreOptions) {
  const url = URL.parse(from!)
  const [bucket, ...prefix] = (url?.pathname ?? '').split('/').filter(Boolean)
  if (!url || !/^https?:$/.test(url.protocol) || bucket === undefined)
    throw new UsageError('--from must be a URL such as https://s3.example.com/bucket or https://s3.example.com/bucket/prefix/')
  if (accessKey === undefined || secretFile === undefined) throw new UsageError('--from needs --access-key and --secret-file')
  const { openS3Store } = await import('../../backup-target/s3-store.ts') // imported on demand: the client of AWS takes long to load
  return openS3Store({
    endpoint: url.origin,
    region: regionName!,
    bucket,
    prefix: prefix.map((part) => `${part}/`).join(''),
    accessKeyId: accessKey,
    secretAccessKey: await readSecret(secretFile),
  })
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
      await migrate(url, MIGRATIONS, { only: new Set(head.migrations.map(({ name }) => name)) })
      const loaded = await restoreDump(url, file, EXCLUDED, newMac)
      await migrateAndSeed(config, url)
      if (withoutKey) await forgetKey(url)
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
function existingVault({ masterKeyFile }: Config): Vault {
  if (!existsSync(masterKeyFile)) throw missingKey(masterKeyFile, 'is missing')
  return openVault(masterKeyFile)
}

const archiveMac = (config: Config): NewMac => macOf(existingVault(config))

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

/** And what nothing can read any more and would be in the way of new ones. */
async function forgetKey(url: string): Promise<void> {
  const db = openDb({ url, maxConnections: 1, onError: () => {} })
  await db
    .tx(async (tx) => {
      await clearFingerprint(tx)
      await tx.run(sql`delete from pki_files`)
    })
    .finally(() => db.close())
}
