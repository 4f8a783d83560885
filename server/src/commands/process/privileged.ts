// The root half of `up`: starts API and worker as a system user, and opens for them what belongs to root. Everything is asked for by name
// and checked here: the other half talks to the network.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { lchown, mkdir, open, readFile, stat } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import type { Config } from '../../config.ts'
import { accessFolder } from '../../hypervisor/rbd/access.ts'
import { ownImagesFolder } from '../../images/own-images.ts'
import { fetchedFolder } from '../../images/store.ts'
import { asUser, ensureSystemUser, run, SERVICE_USER, type OsUser } from '../../kernel/os-user.ts'
import { findPortHolder } from '../port-owner.ts'
import type { FromService, Question, Ready, Start, ToService } from './messages.ts'
import type { ProcessContext } from './service.ts'

/** The service, or why it must be part of this process. */
export type Launched = { service: UnprivilegedService; why?: undefined } | { service: null; why: string }

export interface UnprivilegedService {
  /** It may read every file, because Berth is in a folder that is closed to it. */
  readsAll: boolean
  /** Starts API and worker. `isLibvirtHost`: it may connect to the sockets of libvirt and OVN. */
  open(start: Start, isLibvirtHost: boolean): Promise<Ready>
  noteBuilding(slug: string): void
  noteBuilt(slug: string): void
}

/** Loads the program at once, so that it is ready when the database is. Must be root. */
export async function launchUnprivileged(serving: ProcessContext): Promise<Launched> {
  const { config, stack } = serving
  try {
    const user = await ensureSystemUser(SERVICE_USER)
    await mkdir(config.imagesDir, { recursive: true, mode: 0o755 })
    for (const folder of [ownImagesFolder, fetchedFolder]) await ensureOwnFolder(folder(config.imagesDir), user, 0o711)
    await ensureOwnFolder(accessFolder(config.dataDir), user, 0o700)
    const { prefix, readsAll } = await findPrefix(config, user)
    const cache = await compiledFolder(config, user)
    const command = [...prefix, ...(cache ? ['env', `NODE_COMPILE_CACHE=${cache}`] : []), ...PROGRAM, 'serve']
    const child = spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true })
    await once(child, 'spawn')
    const stop = stopper(serving, child)
    stack.defer(stop) // when the start fails before it is opened
    return { service: operate(serving, child, stop, readsAll) }
  } catch (error) {
    return { service: null, why: (error as Error).message }
  }
}

const PROGRAM = [process.execPath, ...process.execArgv, process.argv[1]!]

/** The least privileged way in which that user can run this program and read the images. */
async function findPrefix({ port, metricsPort, imagesDir }: Config, user: OsUser): Promise<{ prefix: string[]; readsAll: boolean }> {
  const first = Number(await readFile('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8').catch(() => '1024'))
  const low = [port, metricsPort].some((each) => each !== 0 && each < first) ? ['net_bind_service'] : []
  for (const more of [[], ['dac_read_search']]) {
    const prefix = [...asUser(user, [...low, ...more]), '--no-new-privs']
    const can = ['sh', '-c', 'test -x "$0" && test -r "$1" && cd "$2"', process.execPath, process.argv[1]!, imagesDir]
    const works = await run([...prefix, ...can]).then(
      () => true,
      () => false,
    )
    if (works) return { prefix, readsAll: more.length > 0 }
  }
  throw new Error(`the user ${SERVICE_USER} cannot run ${process.argv[1]!}`)
}

/** Apart from that of root, who must not run what the service has compiled. */
async function compiledFolder({ dataDir }: Config, user: OsUser): Promise<string | null> {
  const folder = join(dataDir, 'compiled')
  return ensureOwnFolder(folder, user, 0o700).then(
    () => folder,
    () => null,
  )
}

async function ensureOwnFolder(folder: string, { uid, gid }: OsUser, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode })
    await lchown(folder, uid, gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function stopper({ lifecycle }: ProcessContext, child: ChildProcess): () => Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const insist = (): boolean => child.kill('SIGINT') // the second signal: it stops without draining
    child.kill('SIGTERM')
    lifecycle.drainDeadline.addEventListener('abort', insist)
    await lifecycle.waitFor(ended)
    child.kill('SIGKILL')
  }
}

function operate(
  { lifecycle, stack }: ProcessContext,
  child: ChildProcess,
  stop: () => Promise<void>,
  readsAll: boolean,
): UnprivilegedService {
  const { promise: ready, resolve, reject } = Promise.withResolvers<Ready>()
  ready.catch(() => {}) // it may fail before it is awaited
  const tell = (message: ToService, socket?: Socket): void => {
    if (child.connected) child.send(message, socket, () => {}) // a failure is its exit, which is noticed below
    else socket?.destroy()
  }
  let mayConnect = false
  const answer = async (question: Question): Promise<void> => {
    try {
      if (question.ask === 'portHolder') return tell({ id: question.id, answer: (await findPortHolder(Number(question.given))) ?? null })
      if (!mayConnect) throw new Error('this machine is no host')
      tell({ id: question.id, answer: null }, await openHostSocket(String(question.given)))
    } catch (error) {
      tell({ id: question.id, error: (error as Error).message })
    }
  }
  child.on('message', (message: FromService) => {
    if ('ready' in message) resolve(message.ready)
    else if ('failed' in message) reject(new Error(message.failed))
    else void answer(message)
  })
  child.on('error', () => {})
  child.once('exit', (code, signal) => {
    const error = new Error(`API and worker have ended unexpectedly (${signal ?? `exit code ${code}`})`)
    reject(error)
    if (!lifecycle.stopReason) void ready.then(() => lifecycle.fail(error)).catch(() => {})
  })
  return {
    readsAll,
    open: (start, isLibvirtHost) => {
      mayConnect = isLibvirtHost
      stack.defer(stop) // before the database
      tell({ start })
      return ready
    },
    noteBuilding: (building) => tell({ building }),
    noteBuilt: (built) => tell({ built }),
  }
}

const HOST_SOCKETS = [/^\/run\/libvirt\/libvirt-sock$/, /^\/var\/lib\/libvirt\/qemu\/[^/]+\/vnc\.sock$/, /^\/run\/ovn\/ovn[ns]b_db\.sock$/]
const O_PATH = 0o10000000
const CONNECT_MS = 5_000

/** The folder of a screen's socket belongs to QEMU, which could put a link to any other socket there: hence by descriptor, and only what
 *  belongs to the owner of its folder. */
export async function openHostSocket(path: string, allowed = HOST_SOCKETS): Promise<Socket> {
  if (!allowed.some((pattern) => pattern.test(path))) throw new Error(`${path} is no socket of libvirt or OVN`)
  await using file = await open(path, O_PATH | constants.O_NOFOLLOW)
  const [socket, folder] = [await file.stat(), await stat(dirname(path))]
  if (!socket.isSocket() || socket.uid !== folder.uid) throw new Error(`${path} is no socket of the owner of its folder`)
  const connection = connect(`/proc/self/fd/${file.fd}`).pause() // what it says first is for the other process
  await once(connection, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) })
  return connection
}
