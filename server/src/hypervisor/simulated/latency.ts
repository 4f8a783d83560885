// Simulated latencies. The defaults are those of libvirt with KVM on a good host; tests use `instantPace`.
import { setTimeout as timer } from 'node:timers/promises'
import { DriverError } from '../driver.ts'

export interface Delays {
  overlayMs: number
  startMs: number
  bootMs: number
  shutdownMs: number
  destroyMs: number
  networkMs: number
  attachMs: number
  detachMs: number
  portMs: number
  agentMs: number
  copyMsPerGiB: number
}

export interface Pace {
  delays: Delays
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export const realPace: Pace = {
  delays: {
    overlayMs: 70,
    startMs: 400,
    bootMs: 2_000,
    shutdownMs: 1_000,
    destroyMs: 200,
    networkMs: 40,
    attachMs: 30,
    detachMs: 180,
    portMs: 40,
    agentMs: 50,
    copyMsPerGiB: 400,
  },
  wait: async (ms, signal) => {
    await timer(ms, undefined, { signal }).catch((cause: unknown) => {
      throw abortedError(cause)
    })
  },
}

const none = Object.fromEntries(Object.keys(realPace.delays).map((name) => [name, 0])) as unknown as Delays

/** No latency. */
export const instantPace: Pace = { delays: none, wait: () => Promise.resolve() }

export const abortedError = (cause: unknown): DriverError =>
  new DriverError('aborted', 'The call was aborted before it had ended', { cause })

export function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortedError(signal.reason)
}

export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(abortedError(signal.reason))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
