// The files of one database cluster, in one folder:
//   cluster/       PostgreSQL's data directory  socket/  its unix socket
//   pg_hba.conf, pg_ident.conf    who may connect as whom, where the service is another user
//   owner.pid      the supervising process      lock     held while it is started or stopped
//   borrowers/     processes that use it        postgres.log   its log
import { createHash, randomBytes } from 'node:crypto'
import { chmod, chown, lstat, mkdir, open, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type OsUser, run } from '../os-user.ts'
import type { Launcher } from './os-user.ts'

const UNFINISHED = 'cluster.new-'
/** A socket path has at most 107 bytes, 14 of them PostgreSQL's file name. */
const MAX_SOCKET_DIR = 90

/** The superuser, who only creates the role and the database. It has no password: only its OS user and root can reach the socket, or are
 *  accepted as it where the service reaches the socket too. */
export const SUPERUSER = 'berth'
/** Owns the database and runs every statement of Berth: it can neither run programs nor read files. */
export const DATABASE_USER = 'berth_service'

export interface Folder {
  dir: string
  cluster: string
  owner: string
  borrowers: string
  lock: string
  log: string
}

export const folderAt = (dir: string): Folder => ({
  dir,
  cluster: join(dir, 'cluster'),
  owner: join(dir, 'owner.pid'),
  borrowers: join(dir, 'borrowers'),
  lock: join(dir, 'lock'),
  log: join(dir, 'postgres.log'),
})

/** The folder itself belongs to us, so that a compromised PostgreSQL cannot redirect root's writes. */
export async function prepareFolder(dataDir: string): Promise<Folder> {
  await mkdir(resolve(dataDir), { recursive: true })
  const dir = await realpath(dataDir)
  const isRoot = process.getuid!() === 0
  if (!isRoot && (await stat(dir)).uid !== process.getuid!()) throw new Error(`${dir} belongs to another user. Start Berth as that user.`)
  await chmod(dir, isRoot ? 0o711 : 0o700)
  return folderAt(dir)
}

/** Open to its OS user and root, and to the service where that is another user. */
export async function prepareSocketDir(folder: Folder, account: OsUser, service: OsUser | undefined): Promise<string> {
  const near = join(folder.dir, 'socket')
  const hash = createHash('sha256').update(folder.dir).digest('hex').slice(0, 16)
  const dir = Buffer.byteLength(near) < MAX_SOCKET_DIR ? near : join(tmpdir(), `berth-${hash}`)
  await mkdir(dir, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
    const found = await lstat(dir)
    if (found.isDirectory() && [account.uid, process.getuid!()].includes(found.uid)) return
    throw new Error(`${dir} belongs to another user. PostgreSQL needs it for its socket: delete it and start again.`)
  })
  await chown(dir, account.uid, service?.gid ?? account.gid)
  await chmod(dir, service ? 0o710 : 0o700)
  return dir
}

/** Nobody becomes the superuser but root and PostgreSQL's own user. */
export async function writeAccessRules(folder: Folder, account: OsUser): Promise<{ hba_file: string; ident_file: string }> {
  const files = { hba_file: join(folder.dir, 'pg_hba.conf'), ident_file: join(folder.dir, 'pg_ident.conf') }
  const write = (path: string, text: string): Promise<void> => writeFile(path, text).then(() => chmod(path, 0o644))
  const names = await Promise.all([0, account.uid].map((uid) => run(['id', '-un', String(uid)]).catch(() => null))) // a uid may have no name
  await write(files.hba_file, `local all ${SUPERUSER} peer map=superuser\nlocal all all trust\n`)
  await write(files.ident_file, names.map((name) => (name === null ? '' : `superuser "${name}" ${SUPERUSER}\n`)).join(''))
  return files
}

/** The major version of the data, or undefined when there is none yet. */
export async function readClusterVersion(cluster: string): Promise<string | undefined> {
  const version = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  return version?.trim()
}

/** Created under a temporary name and renamed: an existing cluster is complete. Must be called under the lock. */
export async function initialiseCluster(folder: Folder, launcher: Launcher, initdb: string, durable: boolean): Promise<void> {
  const unfinished = (await readdir(folder.dir)).filter((name) => name.startsWith(UNFINISHED))
  for (const name of unfinished) await rm(join(folder.dir, name), { recursive: true, force: true, maxRetries: 5 })
  // A random name: the initdb of a killed process may still write to the previous one.
  const fresh = join(folder.dir, UNFINISHED + randomBytes(6).toString('hex'))
  await mkdir(fresh, { mode: 0o700 })
  await chown(fresh, launcher.uid, launcher.gid)
  const options = ['--pgdata', fresh, '--username', SUPERUSER, '--auth', 'trust', '--encoding', 'UTF8', '--no-locale', '--no-instructions']
  const initialise = [...launcher.prefix, initdb, ...options, ...(durable ? [] : ['--no-sync'])]
  await run(initialise).catch((cause: Error & { stderr: string }) => {
    throw new Error(`initdb failed in ${folder.dir}: ${cause.stderr.trim() || cause.message}`, { cause })
  })
  await rename(fresh, folder.cluster)
  await using handle = await open(folder.dir)
  await handle.sync()
}
