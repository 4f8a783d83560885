// Waits for an action by long polling: the server responds when the action has ended, or after `wait` seconds.
import type { Api } from './api.ts'
import { ActionFailedError, ActionTimeoutError } from './errors.ts'
import type { Action } from './generated/openapi.ts'
import { withTimeout } from './pipeline/timeout.ts'

/** The result of `vms.create`, `vms.restart` and similar calls, or an action. */
export type ActionReference = { vmId: string; actionId: string } | { vmId: string; id: string }

export interface WaitOptions {
  /** Called every two seconds and at the end of the action. */
  onProgress?: ((action: Action) => void) | undefined
  /** Stops waiting; the action continues. */
  signal?: AbortSignal | undefined
  /** Default: no limit. Every action has a deadline on the server. */
  timeoutMs?: number | undefined
  /** Consecutive retries of a poll that got no response. Default: the client's `maxRetries`, or 15. */
  maxRetries?: number | undefined
}

const MAX_POLL_SECONDS = 30
/** The server ends a long poll with the action, not with a step: onProgress needs short polls. */
const PROGRESS_POLL_SECONDS = 2
const RESPONSE_MARGIN_MS = 15_000
/** Limits the poll rate if the server responds early. */
const MIN_POLL_MS = 500
/** About five minutes, more than other calls, so that waiting survives a restart of the server. */
const RETRIES = 15

export function waitForAction(api: Api, reference: ActionReference, options: WaitOptions = {}): Promise<Action> {
  const { onProgress, timeoutMs = Infinity, maxRetries = api.maxRetries ?? RETRIES } = options
  const path = { id: reference.vmId, actionId: 'actionId' in reference ? reference.actionId : reference.id }
  const maxSeconds = onProgress ? PROGRESS_POLL_SECONDS : MAX_POLL_SECONDS
  const deadline = performance.now() + timeoutMs
  let last: Action | null = null
  const poll = async (signal: AbortSignal): Promise<Action> => {
    // Rounded down to a second, so that the response arrives before the deadline.
    const wait = Math.min(maxSeconds, Math.max(0, Math.floor((deadline - performance.now()) / 1_000)))
    const call = { signal, timeoutMs: wait * 1_000 + RESPONSE_MARGIN_MS, maxRetries }
    last = await api.call('getAction', { path, query: { wait } }, call)
    onProgress?.(last)
    return last
  }
  const timeoutError = (): Error => new ActionTimeoutError(path.actionId, last, timeoutMs)
  return withTimeout(timeoutMs, options.signal, timeoutError, async (signal) => {
    for (;;) {
      const polledAt = performance.now()
      const action = await poll(signal)
      if (action.status === 'COMPLETED') return action
      if (action.status === 'FAILED' || action.status === 'CANCELLED') throw new ActionFailedError(action)
      if (performance.now() - polledAt < MIN_POLL_MS) await api.sleep(MIN_POLL_MS, signal)
    }
  })
}
