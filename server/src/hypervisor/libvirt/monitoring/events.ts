// Events of libvirt, in the words of the contract.
import { AgentState, DomainLifecycle, StoppedDetail, type Domain, type EventOf } from '@berth/libvirt'
import type { DriverEvent, Monitoring, StopReason } from '../../driver.ts'
import { getMetadata } from '../xml/domain-metadata.ts'
import { vmIdOfDomain } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'

type Heard = (event: DriverEvent) => void

export function eventMethods(context: HostContext): Pick<Monitoring, 'subscribe'> {
  return {
    subscribe: async (heard, signal) => {
      const ends: (() => void)[] = []
      const tell = inOrder(context, heard)
      const listen = async (listening: (host: HostContext['host']) => Promise<() => void>): Promise<void> => {
        ends.push(await context.call('listen to events', signal, listening))
      }
      const end = (): void => ends.splice(0).forEach((each) => each())
      try {
        await listen((host) => host.subscribe('lifecycle', (event) => tell(() => lifecycle(context, event))))
        await listen((host) => host.subscribe('reboot', ({ domain }) => tell(() => ours(domain, 'rebooted'))))
        await listen((host) => host.subscribe('agent', (event) => tell(() => agent(event))))
      } catch (error) {
        end()
        throw error
      }
      ends.push(context.onReconnect(() => heard({ type: 'missed' })))
      return async () => end()
    },
  }
}

/** Why a machine stopped takes a look at the host; what came after it waits, so that nobody hears of a start before the stop. */
function inOrder(
  { log, hostId }: HostContext,
  heard: Heard,
): (read: () => Promise<DriverEvent | undefined> | DriverEvent | undefined) => void {
  let last: Promise<void> = Promise.resolve()
  return (read) => {
    last = last
      .then(read)
      .then((event) => event && heard(event))
      .catch((error: unknown) => log.warn({ hostId, err: error }, 'an event of the host was lost'))
  }
}

const ours = (domain: Domain, type: 'started' | 'rebooted' | 'agent_connected'): DriverEvent | undefined => {
  const vmId = vmIdOfDomain(domain.name)
  return vmId ? { type, vmId } : undefined
}

const agent = ({ domain, state }: EventOf<'agent'>): DriverEvent | undefined =>
  state === AgentState.connected ? ours(domain, 'agent_connected') : undefined

async function lifecycle(context: HostContext, { domain, event, detail }: EventOf<'lifecycle'>): Promise<DriverEvent | undefined> {
  if (event === DomainLifecycle.started) return ours(domain, 'started')
  const vmId = vmIdOfDomain(domain.name)
  if (event !== DomainLifecycle.stopped || !vmId || MOVED.includes(detail)) return undefined
  return { type: 'stopped', vmId, reason: await whyStopped(context, domain, detail) }
}

/** It goes on elsewhere, or later. */
const MOVED: number[] = [StoppedDetail.migrated, StoppedDetail.saved, StoppedDetail.fromSnapshot]

async function whyStopped({ host }: HostContext, domain: Domain, detail: number): Promise<StopReason> {
  if (detail === StoppedDetail.crashed || detail === StoppedDetail.failed) return 'crash'
  // A machine that is gone altogether, or cannot be asked, was removed by us.
  const isOrdered = await getMetadata(host, domain).then(
    (found) => (found?.stop ?? null) !== null,
    () => true,
  )
  if (isOrdered) return 'user'
  return detail === StoppedDetail.shutdown ? 'guest' : 'host'
}
