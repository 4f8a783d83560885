// The files of one database cluster, below one folder of ours:
//   cluster/       PostgreSQL's own data        socket/  where it listens
//   owner.pid      who supervises it            lock     held while it is started or stopped
//   borrowers/     who needs it for a while     postgres.log   what it says
import { createHash, randomBytes } from 'node:crypto'
import { chmod, chown, lstat, mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type OsUser, type Launcher, run } from './os-user.ts'

const UNFINISHED = 'cluster.new-'
/** A socket's path may have 107 bytes, of which PostgreSQL's file name takes 14. */
const MAX_SOCKET_DIR = 90

/** The database's own superuser; there is no password, because only its account and root can reach the socket. */
export const DATABASE_USER = 'berth'

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

/** The folder itself stays ours, so that a compromised PostgreSQL cannot trick root into writing elsewhere. */
export async function prepareFolder(dataDir: string): Promise<Folder> {
  await mkdir(resolve(dataDir), { recursive: true })
  const dir = await realpath(dataDir)
  const isRoot = process.getuid!() === 0
  if (!isRoot && (await stat(dir)).uid !== process.getuid!()) throw new Error(`${dir} belongs to another user. Start Berth as that user.`)
  await chmod(dir, isRoot ? 0o711 : 0o700)
  return folderAt(dir)
}

export async function prepareSocketDir(folder: Folder, account: OsUser): Promise<string> {
  const near = join(folder.dir, 'socket')
  const hash = createHash('sha256').update(folder.dir).digest('hex').slice(0, 16)
  const dir = Buffer.byteLength(near) < MAX_SOCKET_DIR ? near : join(tmpdir(), `berth-${hash}`)
  await mkdir(dir, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
    const found = await lstat(dir)
    if (found.isDirectory() && [account.uid, process.getuid!()].includes(found.uid)) return
    throw new Error(`${dir} belongs to somebody else. PostgreSQL needs a folder of that name for its socket: delete it and start again.`)
  })
  await chmod(dir, 0o700)
  await chown(dir, account.uid, account.gid)
  return dir
}

/** The major version of the data, or undefined when there is none yet. */
export async function readClusterVersion(cluster: string): Promise<string | undefined> {
  const version = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  return version?.trim()
}

/** Made under another name and then renamed: a cluster that is there is whole. Must be called under the lock. */
export async function initialiseCluster(folder: Folder, launcher: Launcher, initdb: string, durable: boolean): Promise<void> {
  const unfinished = (await readdir(folder.dir)).filter((name) => name.startsWith(UNFINISHED))
  for (const name of unfinished) await rm(join(folder.dir, name), { recursive: true, force: true, maxRetries: 5 })
  // A name of its own: the initdb of a process that was killed may still be writing to the one before.
  const fresh = join(folder.dir, UNFINISHED + randomBytes(6).toString('hex'))
  await mkdir(fresh, { mode: 0o700 })
  await chown(fresh, launcher.uid, launcher.gid)
  const options = [
    '--pgdata',
    fresh,
    '--username',
    DATABASE_USER,
    '--auth',
    'trust',
    '--encoding',
    'UTF8',
    '--no-locale',
    '--no-instructions',
  ]
  const initialise = [...launcher.prefix, initdb, ...options, ...(durable ? [] : ['--no-sync'])]
  await run(initialise).catch((cause: Error & { stderr: string }) => {
    throw new Error(`PostgreSQL could not make its data in ${folder.dir}: ${cause.stderr.trim() || cause.message}`, { cause })
  })
  await rename(fresh, folder.cluster)
  await using handle = await open(folder.dir)
  await handle.sync()
}
