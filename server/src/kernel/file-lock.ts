// Mutual exclusion of processes on one machine by flock(2), held by a child process that ends with this one in any case: no stale lock
// remains after kill -9.
import { spawn } from 'node:child_process'

const TIMEOUT_SECONDS = 120

export interface LockOptions {
  timeoutSeconds?: number
  signal?: AbortSignal
}

export async function withFileLock<T>(path: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const release = await acquire(path, options)
  try {
    return await work()
  } finally {
    await release()
  }
}

async function acquire(path: string, { timeoutSeconds = TIMEOUT_SECONDS, signal }: LockOptions): Promise<() => Promise<void>> {
  // Detached, so that Ctrl-C in a terminal does not kill the lock holder while we still work.
  const holder = spawn('flock', ['-w', String(timeoutSeconds), path, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  const ended = new Promise<Error>((resolve) => {
    holder.once('error', (error) => resolve(new Error(`Cannot lock ${path}: ${error.message}. The program flock (util-linux) is needed.`)))
    holder.once('close', () =>
      resolve(new Error(`Cannot lock ${path}: another process has held it for ${timeoutSeconds} s, or it is not writable.`)),
    )
  })
  const held = new Promise<void>((resolve) => holder.stdout.once('data', () => resolve()))
  const onAbort = (): void => void holder.kill()
  signal?.addEventListener('abort', onAbort)
  const failure = await Promise.race([held, ended]).finally(() => signal?.removeEventListener('abort', onAbort))
  signal?.throwIfAborted()
  if (failure) throw failure
  return async () => {
    holder.stdin.end()
    await ended
  }
}
