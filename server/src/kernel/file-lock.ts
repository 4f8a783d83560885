// Mutual exclusion of processes on one machine by flock(2), held by a child process that ends with this one in any case: no stale lock
// remains after kill -9.
import { spawn } from 'node:child_process'

const TIMEOUT_SECONDS = 120

export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const release = await acquire(path)
  try {
    return await work()
  } finally {
    await release()
  }
}

async function acquire(path: string): Promise<() => Promise<void>> {
  // Detached, so that Ctrl-C in a terminal does not kill the lock holder while we still work.
  const holder = spawn('flock', ['-w', String(TIMEOUT_SECONDS), path, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  const ended = new Promise<Error>((resolve) => {
    holder.once('error', (error) => resolve(new Error(`Cannot lock ${path}: ${error.message}. The program flock (util-linux) is needed.`)))
    holder.once('close', () =>
      resolve(new Error(`Cannot lock ${path}: another process has held it for ${TIMEOUT_SECONDS} s, or it is not writable.`)),
    )
  })
  const held = new Promise<void>((resolve) => holder.stdout.once('data', () => resolve()))
  const failure = await Promise.race([held, ended])
  if (failure) throw failure
  return async () => {
    holder.stdin.end()
    await ended
  }
}
