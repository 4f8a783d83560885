// Embedded PostgreSQL: initialised at the first start, reached over a unix socket only, restarted when it crashes. It survives when we are
// killed, and the next start adopts it. Of several processes on the same data the first supervises it and the others join; when the
// supervisor stops, it stops. A command borrows it: it is started when needed, and stopped by the last borrower when no process supervises
// it.
import { withFileLock } from '../file-lock.ts'
import { type Folder, folderAt, prepareFolder, readClusterVersion } from './cluster.ts'
import { findOwner, releaseOwnership, isOwnedByUs, registerBorrower, takeOwnership, unregisterBorrower } from './pid-registry.ts'
import { findPostmaster, stopPostmaster } from './postmaster.ts'
import { ensureDatabase, ensureRunning, stopIfClosedToService, type Running, type Settings } from './start.ts'

const WATCH_MS = 1_000

export interface EmbeddedPostgresOptions {
  /** For example .berth/postgres; created when missing. */
  dataDir: string
  database?: string
  settings?: Settings
  /** Called when PostgreSQL crashed and was restarted, or could not be. */
  report?: (sentence: string) => void
  /** Called when its process was spawned, before it is ready. */
  launched?: () => void
}

export interface EmbeddedPostgres extends Pick<Running, 'version' | 'how'> {
  url: string
  /** For what only a superuser may do: tests and benches. */
  superuserUrl: string
  stop(): Promise<void>
}

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, database = 'berth', settings = {}, report = () => {}, launched } = options
  const folder = await prepareFolder(dataDir)
  const { url, superuserUrl, version, how } = await withFileLock(folder.lock, async () => {
    await stopIfClosedToService(folder)
    const running = await ensureDatabase(folder, settings, database, launched)
    if (running.how !== 'joined') await takeOwnership(folder.owner)
    return running
  })
  if (how === 'joined') return { url, superuserUrl, version, how, stop: async () => {} }
  return { url, superuserUrl, version, how, stop: atMostOnce(supervise(folder, settings, report)) }
}

export async function borrowEmbeddedPostgres(options: Omit<EmbeddedPostgresOptions, 'report' | 'launched'>): Promise<EmbeddedPostgres> {
  const { dataDir, database = 'berth', settings = {} } = options
  const folder = await prepareFolder(dataDir)
  const { url, superuserUrl, version, how, entry } = await withFileLock(folder.lock, async () => {
    const running = await ensureDatabase(folder, settings, database)
    return { ...running, entry: await registerBorrower(folder.borrowers) }
  })
  const release = (): Promise<void> =>
    withFileLock(folder.lock, async () => {
      const last = await unregisterBorrower(folder.borrowers, entry)
      if (last && !(await findOwner(folder.owner))) await stopPostmaster(folder)
    })
  return { url, superuserUrl, version, how, stop: atMostOnce(release) }
}

export interface EmbeddedState {
  /** The major version of the data; undefined when there is none yet. */
  dataVersion: string | undefined
  running: boolean
  /** The process that supervises it. */
  owner: number | undefined
}

/** Read-only. */
export async function inspectEmbeddedPostgres(dataDir: string): Promise<EmbeddedState> {
  const { cluster, owner } = folderAt(dataDir)
  const dataVersion = await readClusterVersion(cluster)
  return { dataVersion, running: dataVersion !== undefined && (await findPostmaster(cluster)) !== undefined, owner: await findOwner(owner) }
}

function atMostOnce(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => (done ??= work())
}

/** Supervises PostgreSQL until the returned function is called, which stops it. */
function supervise(folder: Folder, settings: Settings, report: (sentence: string) => void): () => Promise<void> {
  let checking: Promise<void> | undefined
  const timer = setInterval(() => {
    checking ??= restartIfCrashed(folder, settings, report).finally(() => (checking = undefined))
  }, WATCH_MS).unref()
  return async () => {
    clearInterval(timer)
    await checking
    await withFileLock(folder.lock, async () => {
      if (!(await isOwnedByUs(folder.owner))) return
      await stopPostmaster(folder)
      await releaseOwnership(folder.owner)
    })
  }
}

async function restartIfCrashed(folder: Folder, settings: Settings, report: (sentence: string) => void): Promise<void> {
  if (await findPostmaster(folder.cluster)) return
  try {
    const running = await withFileLock(folder.lock, async () => (await isOwnedByUs(folder.owner)) && ensureRunning(folder, settings))
    if (running) report('embedded PostgreSQL crashed; restarted')
  } catch (error) {
    report(`restarting embedded PostgreSQL failed: ${(error as Error).message}`)
  }
}
