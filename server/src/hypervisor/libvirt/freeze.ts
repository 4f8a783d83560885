// Guests stand still for the moment of a copy, and never longer than that.
import { type Domain, ErrorCode, hasCode } from '@berth/libvirt'
import { isDriverError } from '../driver.ts'
import { isAgentConnected } from './agent.ts'
import type { MachineState } from './machine-state.ts'
import type { Session } from './session.ts'
import { pause } from './waiting.ts'

/** A guest that cannot stand still is copied as a power cut would leave it. It is set going again whatever happens: a freeze whose
 *  answer was lost holds as well. */
export async function whileFrozen<T>(session: Session, machine: MachineState, work: () => Promise<T>): Promise<T> {
  if (!isAgentConnected(machine)) return work()
  const { domain } = machine
  const { host, hostId, log } = session
  await host.snapshots
    .freezeFilesystems({ domain })
    .catch((error: unknown) => log.warn({ hostId, domain: domain.name, said: String(error) }, 'the guest did not stand still'))
  try {
    return await work()
  } finally {
    await thaw(session, domain)
  }
}

/** For whoever takes over from a process that may have died in between. */
export const ensureThawed = async (session: Session, machine: MachineState): Promise<void> =>
  isAgentConnected(machine) ? thaw(session, machine.domain) : undefined

const PATIENCE_MS = 15_000
const LOOK_AGAIN_MS = 200

/** As long as it takes: the daemon may be away, or may not have found the agent again. A guest that stands still cannot be asked to wait. */
async function thaw(session: Session, domain: Domain): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  for (;;) {
    try {
      return void (await session.call(`set ${domain.name} going`, signal, (host) => host.snapshots.thawFilesystems({ domain })))
    } catch (error) {
      if (signal.aborted || isOver(error)) return session.log.warn({ hostId: session.hostId, said: String(error) }, 'no thaw')
    }
    await pause(LOOK_AGAIN_MS, signal).catch(() => undefined)
  }
}

/** A machine that is off, or has gone, stands still no more; an agent that refuses to thaw never froze. */
const isOver = (error: unknown): boolean =>
  isDriverError(error) &&
  (hasCode(error.cause, ErrorCode.operationInvalid, ErrorCode.noDomain) || /unable to execute QEMU agent command/.test(error.message))
