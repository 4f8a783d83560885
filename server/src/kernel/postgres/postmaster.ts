// PostgreSQL's main process: find, start, stop. It is identified by its pid file and its working directory (the data directory), so a
// reused pid is never mistaken for it, and we never delete the pid file.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FileHandle, open, readFile, readlink, realpath, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep, stopwatch } from '../clock.ts'
import { ENVIRONMENT } from '../os-user.ts'
import type { Launcher } from './os-user.ts'
import type { Folder } from './cluster.ts'

const POLL_MS = 20
/** A zombie postmaster, or the children of a killed one, keep the data directory locked for about a second. */
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

/** Waits for one that is starting, recovering or shutting down: it becomes ready or disappears. */
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
    const { postmaster, logText } = await tryStart(folder, command, launched)
    if (postmaster) return postmaster
    const stillHeld = /lock file .* already exists|shared memory block/.test(logText)
    if (!stillHeld || elapsed() > RETRY_MS) throw new Error(`PostgreSQL did not start. It logText (${folder.log}):\n${logText.trim()}`)
    await sleep(10 * POLL_MS)
  }
}

async function tryStart(folder: Folder, command: string[], launched: () => void): Promise<{ postmaster?: Postmaster; logText: string }> {
  await using log = await openLog(folder.log)
  const { size } = await log.stat()
  // Its own session: Ctrl-C in a terminal reaches only us, and we stop PostgreSQL when we are done.
  const options = { cwd: '/', env: ENVIRONMENT, detached: true, stdio: ['ignore', log.fd, log.fd] as ['ignore', number, number] }
  const child = spawn(command[0]!, command.slice(1), options)
  await once(child, 'spawn')
  child.unref()
  launched()
  const elapsed = stopwatch()
  while (child.exitCode === null && child.signalCode === null && elapsed() < READY_MS) {
    const postmaster = await findPostmaster(folder.cluster)
    if (postmaster?.ready && postmaster.pid === child.pid) return { postmaster, logText: '' }
    await sleep(POLL_MS)
  }
  return { logText: (await readFile(folder.log)).subarray(size).toString() }
}

async function openLog(path: string): Promise<FileHandle> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size > LARGE_LOG_BYTES) await rename(path, `${path}.1`)
  return open(path, 'a', 0o600)
}

/** Fast shutdown: open transactions are rolled back, committed data is kept. */
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
