// Guests stand still for the moment of a copy, and never longer than that.
import { type Domain, ErrorCode, hasCode } from '@berth/libvirt'
import { isDriverError } from '../../driver.ts'
import { isAgentConnected } from '../domain/guest-agent.ts'
import type { MachineState } from '../domain/lookup.ts'
import type { HostContext } from '../core/host-context.ts'
import { pause } from '../core/abortable.ts'

/** A guest that cannot stand still is copied as a power cut would leave it. It is set going again whatever happens: a freeze whose
 *  answer was lost holds as well. */
export async function withFilesystemsFrozen<T>(context: HostContext, machine: MachineState, work: () => Promise<T>): Promise<T> {
  if (!isAgentConnected(machine)) return work()
  const { domain } = machine
  const { host, hostId, log } = context
  await host.snapshots
    .freezeFilesystems({ domain })
    .catch((error: unknown) => log.warn({ hostId, domain: domain.name, said: String(error) }, 'the guest did not stand still'))
  try {
    return await work()
  } finally {
    await thaw(context, domain)
  }
}

/** For whoever takes over from a process that may have died in between. */
export const ensureThawed = async (context: HostContext, machine: MachineState): Promise<void> =>
  isAgentConnected(machine) ? thaw(context, machine.domain) : undefined

const TIMEOUT_MS = 15_000
const POLL_INTERVAL_MS = 200

/** As long as it takes: the daemon may be away, or may not have found the agent again. A guest that stands still cannot be asked to wait. */
async function thaw(context: HostContext, domain: Domain): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  for (;;) {
    try {
      return void (await context.call(`set ${domain.name} going`, signal, (host) => host.snapshots.thawFilesystems({ domain })))
    } catch (error) {
      if (signal.aborted || cannotThaw(error)) return context.log.warn({ hostId: context.hostId, said: String(error) }, 'no thaw')
    }
    await pause(POLL_INTERVAL_MS, signal).catch(() => undefined)
  }
}

/** A machine that is off, or has gone, stands still no more; an agent that refuses to thaw never froze. */
const cannotThaw = (error: unknown): boolean =>
  isDriverError(error) &&
  (hasCode(error.cause, ErrorCode.operationInvalid, ErrorCode.noDomain) || /unable to execute QEMU agent command/.test(error.message))
