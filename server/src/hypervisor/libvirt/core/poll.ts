// Wait loops: read the state, sleep, read again.
import { stopwatch } from '../../../kernel/clock.ts'
import type { HostContext } from './host-context.ts'

const POLL_INTERVAL_MS = 100
/** How long a half-made volume waits for the process that may be making it. */
export const PEER_TIMEOUT_MS = 3_000
/** For clean-up, which runs also after the caller's signal has aborted. */
export const CLEANUP_TIMEOUT_MS = 30_000

interface Interval {
  intervalMs?: number
}

interface Poll extends Interval {
  timeoutMs?: number
}

type Read<T> = () => Promise<T | undefined>

/** Calls `read` until it returns a value; undefined when `timeoutMs` is over. `what` completes "Could not …". */
export function pollUntil<T>(context: HostContext, what: string, signal: AbortSignal, read: Read<T>, poll?: Interval): Promise<T>
export function pollUntil<T>(context: HostContext, what: string, signal: AbortSignal, read: Read<T>, poll: Poll): Promise<T | undefined>
export async function pollUntil<T>(
  context: HostContext,
  what: string,
  signal: AbortSignal,
  read: Read<T>,
  { timeoutMs = Infinity, intervalMs = POLL_INTERVAL_MS }: Poll = {},
): Promise<T | undefined> {
  for (const elapsedMs = stopwatch(); ;) {
    const found = await read()
    if (found !== undefined || elapsedMs() >= timeoutMs) return found
    await context.pause(what, intervalMs, signal)
  }
}

/** Until `isTrue`; false when `timeoutMs` is over. */
export const pollUntilTrue = async (
  context: HostContext,
  what: string,
  signal: AbortSignal,
  isTrue: () => Promise<boolean>,
  poll: Poll = {},
): Promise<boolean> => (await pollUntil(context, what, signal, async () => (await isTrue()) || undefined, poll)) ?? false
