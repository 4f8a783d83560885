// Starts PostgreSQL on a folder in any state. Must be called under the folder's lock.
import { constants, stat } from 'node:fs/promises'
import { ensureSystemUser, SERVICE_USER, type OsUser } from '../os-user.ts'
import { chooseOsUser, findLauncher } from './os-user.ts'
import { findBinaries } from './binaries.ts'
import { ensureOwnedDatabase } from './roles.ts'
import {
  DATABASE_USER,
  SUPERUSER,
  type Folder,
  initialiseCluster,
  prepareSocketDir,
  readClusterVersion,
  writeAccessRules,
} from './cluster.ts'
import { findOwner } from './pid-registry.ts'
import { findSettledPostmaster, startPostmaster, stopPostmaster } from './postmaster.ts'

export type Settings = Record<string, string>

export interface Running {
  socketDir: string
  version: string
  /** "joined": a live process supervises it, even when we started it. "adopted": it was running without a supervisor. */
  how: 'initialised' | 'started' | 'adopted' | 'joined'
}

/** Sized for a laptop. Durability settings (fsync, synchronous_commit, full_page_writes) keep PostgreSQL's default "on". */
const DEFAULTS = {
  shared_buffers: '64MB',
  max_connections: '100',
  autovacuum_work_mem: '8MB',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
}

export async function ensureRunning(folder: Folder, settings: Settings, launched = (): void => {}): Promise<Running> {
  const binaries = findBinaries()
  const account = await chooseOsUser(folder.cluster)
  const launcher = await findLauncher(account, binaries.postgres, folder.dir)
  const dataVersion = await readClusterVersion(folder.cluster)
  requireSameMajor(folder, dataVersion, launcher.version)
  const live = await findSettledPostmaster(folder.cluster)
  if (!dataVersion) await initialiseCluster(folder, launcher, binaries.initdb, settings.fsync !== 'off')
  const start = async () => startPostmaster(folder, binaries.postgres, launcher, await allSettings(folder, account, settings), launched)
  const { socketDir } = live ?? (await start())
  const joined = (await findOwner(folder.owner)) !== undefined
  const how = joined ? 'joined' : live ? 'adopted' : dataVersion ? 'started' : 'initialised'
  return { socketDir, version: launcher.version, how }
}

/** Ensures that it runs and has that database. Stops it again when that fails. */
export async function ensureDatabase(
  folder: Folder,
  settings: Settings,
  database: string,
  launched?: () => void,
): Promise<Running & { url: string; superuserUrl: string }> {
  const running = await ensureRunning(folder, settings, launched)
  try {
    const superuserUrl = urlOf(running.socketDir, database, SUPERUSER)
    await ensureOwnedDatabase(urlOf(running.socketDir, 'postgres', SUPERUSER), superuserUrl, database)
    return { ...running, url: urlOf(running.socketDir, database, DATABASE_USER), superuserUrl }
  } catch (error) {
    if (running.how === 'started' || running.how === 'initialised') await stopPostmaster(folder)
    throw error
  }
}

async function allSettings(folder: Folder, account: OsUser, settings: Settings): Promise<Settings> {
  const service = await otherService()
  const socketDir = await prepareSocketDir(folder, account, service)
  const socket = { unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`, unix_socket_permissions: service ? '0777' : '0700' }
  const rules = service && (await writeAccessRules(folder, account))
  return { ...DEFAULTS, ...settings, ...socket, ...rules, listen_addresses: '', port: '5432' }
}

/** The user of the service, when it is not ours. Where it cannot be created, root runs the service. */
const otherService = async (): Promise<OsUser | undefined> =>
  process.getuid!() === 0 ? ensureSystemUser(SERVICE_USER).catch(() => undefined) : undefined

/** Stops one whose socket the service cannot reach: an older version started it. */
export async function stopIfClosedToService(folder: Folder): Promise<void> {
  const service = await otherService()
  const live = service && (await findSettledPostmaster(folder.cluster))
  if (!live || (await findOwner(folder.owner)) !== undefined) return
  const { gid, mode } = await stat(live.socketDir)
  if (gid !== service.gid || !(mode & constants.S_IXGRP)) await stopPostmaster(folder)
}

function requireSameMajor(folder: Folder, found: string | undefined, version: string): void {
  const major = version.split('.')[0]
  if (found === undefined || found === major) return
  throw new Error(
    `The data in ${folder.cluster} was written by PostgreSQL ${found}, and this version of Berth includes PostgreSQL ${major}, which cannot read it. ` +
      `Start the version that wrote it and move the data with a dump, or run PostgreSQL ${found} on it and set BERTH_DATABASE_URL.`,
  )
}

/** All parts are explicit, because PGPORT, PGUSER or PGSSLMODE in our environment would set missing ones. */
function urlOf(socketDir: string, database: string, user: string): string {
  const query = new URLSearchParams({ host: socketDir, port: '5432', user, sslmode: 'disable' })
  return `postgresql:///${encodeURI(database)}?${query.toString()}`
}
