// PostgreSQL for those who bring none: made on the first start, reached by a unix socket only, and started again when it dies.
// It outlives us when we are killed, and the next start takes it over. Of several processes on the same data the first supervises it,
// the others join; when the first stops, it stops for all of them.
import pg from 'pg'
import { withFileLock } from './file-lock.ts'
import { type Account, chooseAccount, findLauncher } from './postgres/account.ts'
import { findBinaries } from './postgres/binaries.ts'
import { DATABASE_USER, type Folder, initialiseCluster, prepareFolder, prepareSocketDir, readClusterVersion } from './postgres/cluster.ts'
import { giveUpOwnership, isOwnedByUs, isOwnerAlive, takeOwnership } from './postgres/ownership.ts'
import { findPostmaster, findSettledPostmaster, type Postmaster, startPostmaster, stopPostmaster } from './postgres/postmaster.ts'

const WATCH_MS = 1_000

/** Small enough for a laptop. What makes a commit durable (fsync, synchronous_commit, full_page_writes) stays at PostgreSQL's "on". */
const DEFAULTS = {
  shared_buffers: '64MB',
  max_connections: '100',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
}

export interface EmbeddedPostgresOptions {
  /** For example .berth/postgres; made when missing. */
  dataDir: string
  database?: string
  settings?: Record<string, string>
  /** Told when PostgreSQL died and was started again, or could not be. */
  report?: (sentence: string) => void
}

export interface EmbeddedPostgres {
  url: string
  version: string
  how: 'initialised' | 'started' | 'adopted' | 'joined'
  stop(): Promise<void>
}

interface Running {
  postmaster: Postmaster
  version: string
  how: EmbeddedPostgres['how']
}

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, database = 'berth', settings = {}, report = () => {} } = options
  const folder = await prepareFolder(dataDir)
  const { postmaster, version, how } = await withFileLock(folder.lock, async () => {
    const running = await ensureRunning(folder, settings)
    await createDatabase(urlOf(running.postmaster.socketDir, 'postgres'), database)
    return running
  })
  const url = urlOf(postmaster.socketDir, database)
  if (how === 'joined') return { url, version, how, stop: async () => {} }
  const stop = supervise(folder, settings, report)
  let stopped: Promise<void> | undefined
  return { url, version, how, stop: () => (stopped ??= stop()) }
}

/** Must be called under the lock. Where a live process supervises this data it goes on doing so, also when we start PostgreSQL for it. */
async function ensureRunning(folder: Folder, settings: Record<string, string>): Promise<Running> {
  const binaries = findBinaries()
  const account = await chooseAccount(folder.cluster)
  const launcher = await findLauncher(account, binaries.postgres, folder.dir)
  const dataVersion = await readClusterVersion(folder.cluster)
  requireSameMajor(folder, dataVersion, launcher.version)
  const live = await findSettledPostmaster(folder.cluster)
  if (!dataVersion) await initialiseCluster(folder, launcher, binaries.initdb, settings.fsync !== 'off')
  const postmaster = live ?? (await startPostmaster(folder, binaries.postgres, launcher, await allSettings(folder, account, settings)))
  const joined = await isOwnerAlive(folder.owner)
  if (!joined) await takeOwnership(folder.owner)
  const how = joined ? 'joined' : live ? 'adopted' : dataVersion ? 'started' : 'initialised'
  return { postmaster, version: launcher.version, how }
}

async function allSettings(folder: Folder, account: Account, settings: Record<string, string>): Promise<Record<string, string>> {
  const socketDir = await prepareSocketDir(folder, account)
  const socket = { unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`, unix_socket_permissions: '0700' }
  return { ...DEFAULTS, ...settings, ...socket, listen_addresses: '', port: '5432' }
}

function requireSameMajor(folder: Folder, found: string | undefined, version: string): void {
  const major = version.split('.')[0]
  if (found === undefined || found === major) return
  throw new Error(
    `The data in ${folder.cluster} was written by PostgreSQL ${found}, and this Berth brings PostgreSQL ${major}, which cannot read it. ` +
      `Start the Berth that wrote it and move the data by a dump, or run PostgreSQL ${found} on it and set BERTH_DATABASE_URL.`,
  )
}

/** Every part is spelled out, because PGPORT, PGUSER or PGSSLMODE in our environment would fill in what is missing. */
function urlOf(socketDir: string, database: string): string {
  const query = new URLSearchParams({ host: socketDir, port: '5432', user: DATABASE_USER, sslmode: 'disable' })
  return `postgresql:///${encodeURI(database)}?${query.toString()}`
}

async function createDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}

/** Looks after PostgreSQL until the function it returns is called, which stops it. */
function supervise(folder: Folder, settings: Record<string, string>, report: (sentence: string) => void): () => Promise<void> {
  let looking: Promise<void> | undefined
  const timer = setInterval(() => {
    looking ??= restartIfGone(folder, settings, report).finally(() => (looking = undefined))
  }, WATCH_MS).unref()
  return async () => {
    clearInterval(timer)
    await looking
    await withFileLock(folder.lock, async () => {
      if (!(await isOwnedByUs(folder.owner))) return
      await stopPostmaster(folder)
      await giveUpOwnership(folder.owner)
    })
  }
}

async function restartIfGone(folder: Folder, settings: Record<string, string>, report: (sentence: string) => void): Promise<void> {
  if (await findPostmaster(folder.cluster)) return
  try {
    const running = await withFileLock(folder.lock, async () => (await isOwnedByUs(folder.owner)) && ensureRunning(folder, settings))
    if (running) report('PostgreSQL had died and was started again.')
  } catch (error) {
    report(`PostgreSQL has died and cannot be started again: ${(error as Error).message}`)
  }
}
