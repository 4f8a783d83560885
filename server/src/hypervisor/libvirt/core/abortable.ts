// Waiting that ends with its caller's patience, and turns that are taken one after another.
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/** Rejects with the signal's reason as soon as it is aborted. What was waited for goes on; nobody hears how it ends. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined)
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const giveUp = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', giveUp)
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** Nobody will close what was opened for a caller who has left. */
export function destroyIfAborted<T extends Readable>(stream: T, signal: AbortSignal): T {
  if (signal.aborted) stream.destroy()
  return stream
}

export const pause = (ms: number, signal: AbortSignal): Promise<void> => delay(ms, undefined, { signal })

export type Alone = <T>(key: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>

/** One at a time per key, in the order of asking. */
export function keyedMutex(): Alone {
  const last = new Map<string, Promise<void>>()
  return async (key, signal, work) => {
    const before = last.get(key) ?? Promise.resolve()
    const { promise: over, resolve: leave } = Promise.withResolvers<void>()
    const mine = before.then(() => over)
    last.set(key, mine)
    try {
      await abortable(before, signal)
      return await work()
    } finally {
      leave()
      if (last.get(key) === mine) last.delete(key)
    }
  }
}
