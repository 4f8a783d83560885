// libvirt events as DriverEvents.
import { AgentState, DomainLifecycle, StoppedDetail, type Domain, type EventOf } from '@berth/libvirt'
import type { DriverEvent, Monitoring, StopReason } from '../../driver.ts'
import { bringMemoryOnline } from '../domain/guest-size.ts'
import { getMetadata } from '../xml/domain-metadata.ts'
import { vmIdOfDomain } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'

type Listener = (event: DriverEvent) => void

export function eventMethods(context: HostContext): Pick<Monitoring, 'subscribe'> {
  return {
    subscribe: async (listener, signal) => {
      const ends: (() => void)[] = []
      const notify = inOrder(context, listener)
      const agent = agentEvents(context)
      const listen = async (listening: (host: HostContext['host']) => Promise<() => void>): Promise<void> => {
        ends.push(await context.call('listen to events', signal, listening))
      }
      const end = (): void => ends.splice(0).forEach((each) => each())
      try {
        await listen((host) => host.subscribe('lifecycle', (event) => notify(() => lifecycle(context, event))))
        await listen((host) => host.subscribe('reboot', ({ domain }) => notify(() => eventOf(domain, 'rebooted'))))
        await listen((host) => host.subscribe('agent', (event) => notify(() => agent(event))))
      } catch (error) {
        end()
        throw error
      }
      ends.push(context.onReconnect(() => listener({ type: 'missed' })))
      return async () => end()
    },
  }
}

/** Delivers in order: the reason of a stop takes a call to the host, and a later start must not overtake it. */
function inOrder(
  { log, hostId }: HostContext,
  listener: Listener,
): (read: () => Promise<DriverEvent | undefined> | DriverEvent | undefined) => void {
  let last: Promise<void> = Promise.resolve()
  return (read) => {
    last = last
      .then(read)
      .then((event) => event && listener(event))
      .catch((error: unknown) => log.warn({ hostId, err: error }, 'handling libvirt event failed'))
  }
}

const eventOf = (domain: Domain, type: 'started' | 'paused' | 'rebooted' | 'agent_connected'): DriverEvent | undefined => {
  const vmId = vmIdOfDomain(domain.name)
  return vmId ? { type, vmId } : undefined
}

const AGENT_TAKES_MS = 30_000
/** Guests that do not answer must leave others their turn. */
const AT_ONCE = 2

/** A guest that has rebooted by itself gets its added memory here. It may open and close its channel as it likes: one attempt is enough. */
function agentEvents(context: HostContext): (event: EventOf<'agent'>) => DriverEvent | undefined {
  const attempts = new Set<string>()
  const lanes = Array.from({ length: AT_ONCE }, () => Promise.resolve())
  let turn = 0
  const attempt = (domain: Domain): Promise<void> =>
    bringMemoryOnline(context, domain, AGENT_TAKES_MS, context.closing)
      .catch((error: unknown) =>
        context.log.debug({ hostId: context.hostId, domain: domain.name, err: error }, 'looking for added memory failed'),
      )
      .finally(() => attempts.delete(domain.name))
  return ({ domain, state }) => {
    const event = state === AgentState.connected ? eventOf(domain, 'agent_connected') : undefined
    if (event && !attempts.has(domain.name)) {
      attempts.add(domain.name)
      turn = (turn + 1) % AT_ONCE
      lanes[turn] = lanes[turn]!.then(() => attempt(domain))
    }
    return event
  }
}

async function lifecycle(context: HostContext, { domain, event, detail }: EventOf<'lifecycle'>): Promise<DriverEvent | undefined> {
  if (event === DomainLifecycle.started) return eventOf(domain, 'started')
  if (event === DomainLifecycle.suspended) return eventOf(domain, 'paused')
  const vmId = vmIdOfDomain(domain.name)
  if (event !== DomainLifecycle.stopped || !vmId || MOVED.includes(detail)) return undefined
  return { type: 'stopped', vmId, reason: await whyStopped(context, domain, detail) }
}

/** The domain continues elsewhere, or later. */
const MOVED: number[] = [StoppedDetail.migrated, StoppedDetail.saved, StoppedDetail.fromSnapshot]

async function whyStopped({ host }: HostContext, domain: Domain, detail: number): Promise<StopReason> {
  if (detail === StoppedDetail.crashed || detail === StoppedDetail.failed) return 'crash'
  // A domain that does not exist any more, or whose metadata cannot be read, was purged by us.
  const isOrdered = await getMetadata(host, domain).then(
    (found) => (found?.stop ?? null) !== null,
    () => true,
  )
  if (isOrdered) return 'user'
  return detail === StoppedDetail.shutdown ? 'guest' : 'host'
}
