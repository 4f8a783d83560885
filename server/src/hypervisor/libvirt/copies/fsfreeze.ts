// Freezes the filesystems of a guest while a backup job starts, and always thaws them. Not by libvirt's own procedures for it: those wait for the guest agent for ever.
import { type Domain, ErrorCode, hasCode } from '@berth/libvirt'
import { Type } from 'typebox'
import { isDriverError } from '../../driver.ts'
import { callGuestAgent, isAgentConnected } from '../domain/guest-agent.ts'
import type { MachineState } from '../domain/lookup.ts'
import type { HostContext } from '../core/host-context.ts'
import { hasText } from '../core/errors.ts'
import { pollUntilTrue } from '../core/poll.ts'

/** Of filesystems. */
const Count = Type.Integer()

/** With the wait for other calls to agents. */
const FREEZE_TIMEOUT_MS = 30_000
/** A guest may still be freezing when we no longer wait for its answer, and is thawed only after that. */
const THAW_TIMEOUT_MS = 60_000
const ENSURE_THAWED_TIMEOUT_MS = 15_000

/** A guest whose filesystems cannot be frozen gets a crash-consistent copy. It is thawed in any case: a freeze whose reply was lost may have
 *  taken effect. */
export async function withFilesystemsFrozen<T>(
  context: HostContext,
  machine: MachineState,
  work: (isFrozen: boolean) => Promise<T>,
): Promise<T> {
  if (!isAgentConnected(machine)) return work(false)
  const { domain } = machine
  const { hostId, log } = context
  const frozen = callGuestAgent(context, domain, { execute: 'guest-fsfreeze-freeze' }, Count, AbortSignal.timeout(FREEZE_TIMEOUT_MS))
  const isFrozen = await frozen.then(
    () => true,
    (error: unknown) => {
      log.warn({ hostId, domain: domain.name, err: error }, 'fsfreeze failed; copy is crash-consistent only')
      return false
    },
  )
  try {
    return await work(isFrozen)
  } finally {
    await thaw(context, domain, THAW_TIMEOUT_MS)
  }
}

/** For a process that takes over from one that may have died while the guest was frozen. */
export const ensureThawed = async (context: HostContext, machine: MachineState): Promise<void> =>
  isAgentConnected(machine) ? thaw(context, machine.domain, ENSURE_THAWED_TIMEOUT_MS) : undefined

/** Retries: the daemon may be down, or may not have reconnected to the agent yet. */
async function thaw(context: HostContext, domain: Domain, timeoutMs: number): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs)
  const isThawed = (): Promise<boolean> =>
    callGuestAgent(context, domain, { execute: 'guest-fsfreeze-thaw' }, Count, signal).then(
      () => true,
      (error: unknown) => {
        if (signal.aborted || cannotThaw(error)) throw error
        return false
      },
    )
  await pollUntilTrue(context, `thaw filesystems of ${domain.name}`, signal, isThawed).catch((error: unknown) =>
    context.log.warn({ hostId: context.hostId, domain: domain.name, err: error }, 'fsthaw failed'),
  )
}

/** A domain that is off or gone is not frozen; an agent that refuses to thaw has not frozen. */
const cannotThaw = (error: unknown): boolean =>
  isDriverError(error) && (hasCode(error.cause, ErrorCode.operationInvalid, ErrorCode.noDomain) || hasText(error, 'agentRefused'))
