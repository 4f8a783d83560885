// PostgreSQL's main process: is it there, start it, stop it. It is found by its pid file and by its working directory, which is the data:
// so a pid that now belongs to another program is never taken for it, and the pid file is never ours to delete.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FileHandle, open, readFile, readlink, realpath, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep, stopwatch } from '../clock.ts'
import { ENVIRONMENT, type Launcher } from './os-user.ts'
import type { Folder } from './cluster.ts'

const POLL_MS = 20
/** A zombie postmaster, or the children of a killed one, hold the data for about a second. */
const RETRY_MS = 5_000
const READY_MS = 300_000
const STOP_MS = 30_000
const LARGE_LOG_BYTES = 10_000_000

export interface Postmaster {
  pid: number
  socketDir: string
  ready: boolean
}

export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  if (!pid || (await readlink(`/proc/${pid}/cwd`).catch(() => undefined)) !== (await realpath(cluster))) return undefined
  return { pid, socketDir: lines[4] ?? '', ready: lines[7]?.trim() === 'ready' }
}

/** One that is starting up, recovering or shutting down is waited for: it ends up ready, or gone. */
export async function findSettledPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const elapsed = stopwatch()
  for (;;) {
    const postmaster = await findPostmaster(cluster)
    if (!postmaster || postmaster.ready) return postmaster
    if (elapsed() > READY_MS) throw new Error(`PostgreSQL (pid ${postmaster.pid}) has been starting or stopping for ${READY_MS / 1000} s.`)
    await sleep(POLL_MS)
  }
}

export async function startPostmaster(
  folder: Folder,
  postgres: string,
  launcher: Launcher,
  settings: Record<string, string>,
  launched: () => void,
): Promise<Postmaster> {
  const assignments = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const command = [...launcher.prefix, postgres, '-D', folder.cluster, ...assignments]
  const elapsed = stopwatch()
  for (;;) {
    const { postmaster, said } = await tryStart(folder, command, launched)
    if (postmaster) return postmaster
    const stillHeld = /lock file .* already exists|shared memory block/.test(said)
    if (!stillHeld || elapsed() > RETRY_MS) throw new Error(`PostgreSQL did not start. It said (${folder.log}):\n${said.trim()}`)
    await sleep(10 * POLL_MS)
  }
}

async function tryStart(folder: Folder, command: string[], launched: () => void): Promise<{ postmaster?: Postmaster; said: string }> {
  await using log = await openLog(folder.log)
  const { size } = await log.stat()
  // A session of its own: a terminal's Ctrl-C is for us, and we stop PostgreSQL in our own time.
  const options = { cwd: '/', env: ENVIRONMENT, detached: true, stdio: ['ignore', log.fd, log.fd] as ['ignore', number, number] }
  const child = spawn(command[0]!, command.slice(1), options)
  await once(child, 'spawn')
  child.unref()
  launched()
  const elapsed = stopwatch()
  while (child.exitCode === null && child.signalCode === null && elapsed() < READY_MS) {
    const postmaster = await findPostmaster(folder.cluster)
    if (postmaster?.ready && postmaster.pid === child.pid) return { postmaster, said: '' }
    await sleep(POLL_MS)
  }
  return { said: (await readFile(folder.log)).subarray(size).toString() }
}

async function openLog(path: string): Promise<FileHandle> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size > LARGE_LOG_BYTES) await rename(path, `${path}.1`)
  return open(path, 'a', 0o600)
}

/** A fast shutdown: transactions under way are rolled back, everything committed is kept. */
export async function stopPostmaster(folder: Folder): Promise<void> {
  const running = await findPostmaster(folder.cluster)
  if (!running) return
  process.kill(running.pid, 'SIGINT')
  const elapsed = stopwatch()
  while (await findPostmaster(folder.cluster)) {
    if (elapsed() > STOP_MS) throw new Error(`PostgreSQL (pid ${running.pid}) did not stop within ${STOP_MS / 1000} s; see ${folder.log}.`)
    await sleep(POLL_MS)
  }
}
