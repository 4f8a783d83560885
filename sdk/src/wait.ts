// Waits for the end of an action with long polls: the server answers when the action has ended, or after the seconds it was told.
import type { Api } from './api.ts'
import { ActionFailedError, ActionTimeoutError } from './errors.ts'
import type { Action } from './generated/schemas.ts'
import { within } from './pipeline/timeout.ts'

/** What `vms.create`, `vms.restart` and the like answer, or an action that was read. */
export type ActionReference = { vmId: string; actionId: string } | { vmId: string; id: string }

export interface WaitOptions {
  /** Told how far the action is, every two seconds and at its end. */
  onProgress?: ((action: Action) => void) | undefined
  /** Gives up the waiting; the action goes on. */
  signal?: AbortSignal | undefined
  /** No limit unless given: every action has a deadline of its own on the server, and ends. */
  timeoutMs?: number | undefined
  /** How often in a row it is looked again where no answer came; as the client was told, or 15 times. */
  maxRetries?: number | undefined
}

const LONGEST_POLL_SECONDS = 30
/** A poll ends with the action and not with a step of it: whoever wants to see steps has to look. */
const PROGRESS_POLL_SECONDS = 2
const ANSWER_WITHIN_MS = 15_000
/** In case an answer comes before its time. */
const SHORTEST_POLL_MS = 500
/** A server that is being restarted is waited for longer than elsewhere: about five minutes. */
const RETRIES = 15

export function waitForAction(api: Api, reference: ActionReference, options: WaitOptions = {}): Promise<Action> {
  const { onProgress, timeoutMs = Infinity, maxRetries = api.maxRetries ?? RETRIES } = options
  const path = { id: reference.vmId, actionId: 'actionId' in reference ? reference.actionId : reference.id }
  const longest = onProgress ? PROGRESS_POLL_SECONDS : LONGEST_POLL_SECONDS
  const deadline = performance.now() + timeoutMs
  let last: Action | null = null
  const look = async (signal: AbortSignal): Promise<Action> => {
    // Down to a whole second, so that the answer is there before the time is over.
    const wait = Math.min(longest, Math.max(0, Math.floor((deadline - performance.now()) / 1_000)))
    const call = { signal, timeoutMs: wait * 1_000 + ANSWER_WITHIN_MS, maxRetries }
    last = await api.call('getAction', { path, query: { wait } }, call)
    onProgress?.(last)
    return last
  }
  const overdue = (): Error => new ActionTimeoutError(path.actionId, last, timeoutMs)
  return within(timeoutMs, options.signal, overdue, async (signal) => {
    for (;;) {
      const asked = performance.now()
      const action = await look(signal)
      if (action.status === 'COMPLETED') return action
      if (action.status === 'FAILED' || action.status === 'CANCELLED') throw new ActionFailedError(action)
      if (performance.now() - asked < SHORTEST_POLL_MS) await api.sleep(SHORTEST_POLL_MS, signal)
    }
  })
}
