// Waits that end when their signal aborts, and a mutex per key.
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/** Rejects with the signal's reason as soon as it aborts. `work` itself goes on; its result is dropped. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined)
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Closes a stream that was opened after its caller had aborted: the caller will not. */
export function destroyIfAborted<T extends Readable>(stream: T, signal: AbortSignal): T {
  if (signal.aborted) stream.destroy()
  return stream
}

export const sleep = (ms: number, signal: AbortSignal): Promise<void> => delay(ms, undefined, { signal })

export type KeyedMutex = <T>(key: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>

/** One at a time per key, first come, first served. */
export function keyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<void>>()
  return async (key, signal, work) => {
    const before = last.get(key) ?? Promise.resolve()
    const { promise: done, resolve: release } = Promise.withResolvers<void>()
    const mine = before.then(() => done)
    last.set(key, mine)
    try {
      await abortable(before, signal)
      return await work()
    } finally {
      release()
      if (last.get(key) === mine) last.delete(key)
    }
  }
}
