// Waits for something another process does, with a deadline.
import { setTimeout as delay } from 'node:timers/promises'

/** Tries until `attempt` gives something and does not throw; the last failure is told when time is up. */
export async function eventually<T>(what: string, attempt: () => Promise<T | undefined> | T | undefined, timeoutMs = 30_000): Promise<T> {
  const deadline = Date.now() + timeoutMs
  let cause: unknown
  while (Date.now() < deadline) {
    try {
      const value = await attempt()
      if (value !== undefined && value !== false) return value
    } catch (error) {
      cause = error
    }
    await delay(20)
  }
  throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause })
}
