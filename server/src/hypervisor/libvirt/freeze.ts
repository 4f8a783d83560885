import type { Host } from '@berth/libvirt'
import { isAgentConnected } from './agent.ts'
import type { MachineState } from './machine-state.ts'
import type { Session } from './session.ts'

/** A guest that cannot stand still is copied as a power cut would leave it. It is set going again whatever happens: a freeze whose
 *  answer was lost holds as well. */
export async function whileFrozen<T>({ log, hostId }: Session, host: Host, machine: MachineState, work: () => Promise<T>): Promise<T> {
  if (!isAgentConnected(machine)) return work()
  const { domain } = machine
  await host.snapshots
    .freezeFilesystems({ domain })
    .catch((error: unknown) => log.warn({ hostId, domain: domain.name, said: String(error) }, 'the guest did not stand still'))
  try {
    return await work()
  } finally {
    await host.snapshots.thawFilesystems({ domain }).catch(() => undefined) // it was not frozen after all
  }
}
