// Freezes the filesystems of a guest while a backup job starts, and always thaws them.
import { type Domain, ErrorCode, hasCode } from '@berth/libvirt'
import { isDriverError } from '../../driver.ts'
import { isAgentConnected } from '../domain/guest-agent.ts'
import type { MachineState } from '../domain/lookup.ts'
import type { HostContext } from '../core/host-context.ts'
import { hasText } from '../core/errors.ts'
import { pollUntilTrue } from '../core/poll.ts'

/** A guest whose filesystems cannot be frozen gets a crash-consistent copy. It is thawed in any case: a freeze whose reply was lost may have
 *  taken effect. */
export async function withFilesystemsFrozen<T>(
  context: HostContext,
  machine: MachineState,
  work: (isFrozen: boolean) => Promise<T>,
): Promise<T> {
  if (!isAgentConnected(machine)) return work(false)
  const { domain } = machine
  const { host, hostId, log } = context
  const isFrozen = await host.snapshots.freezeFilesystems({ domain }).then(
    () => true,
    (error: unknown) => {
      log.warn({ hostId, domain: domain.name, err: error }, 'fsfreeze failed; copy is crash-consistent only')
      return false
    },
  )
  try {
    return await work(isFrozen)
  } finally {
    await thaw(context, domain)
  }
}

/** For a process that takes over from one that may have died while the guest was frozen. */
export const ensureThawed = async (context: HostContext, machine: MachineState): Promise<void> =>
  isAgentConnected(machine) ? thaw(context, machine.domain) : undefined

const THAW_TIMEOUT_MS = 15_000

/** Retries: the daemon may be down, or may not have reconnected to the agent yet. */
async function thaw(context: HostContext, domain: Domain): Promise<void> {
  const what = `thaw filesystems of ${domain.name}`
  const signal = AbortSignal.timeout(THAW_TIMEOUT_MS)
  const isThawed = (): Promise<boolean> =>
    context
      .call(what, signal, (host) => host.snapshots.thawFilesystems({ domain }))
      .then(
        () => true,
        (error: unknown) => {
          if (signal.aborted || cannotThaw(error)) throw error
          return false
        },
      )
  await pollUntilTrue(context, what, signal, isThawed).catch((error: unknown) =>
    context.log.warn({ hostId: context.hostId, domain: domain.name, err: error }, 'fsthaw failed'),
  )
}

/** A domain that is off or gone is not frozen; an agent that refuses to thaw has not frozen. */
const cannotThaw = (error: unknown): boolean =>
  isDriverError(error) && (hasCode(error.cause, ErrorCode.operationInvalid, ErrorCode.noDomain) || hasText(error, 'agentRefused'))
