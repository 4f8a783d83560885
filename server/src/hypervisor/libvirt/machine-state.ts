// How the machine of a VM is, and waiting for what becomes of it.
import { DomainState, type Domain, type EventName, type EventOf } from '@berth/libvirt'
import { stopwatch } from '../../kernel/clock.ts'
import { DriverError } from '../driver.ts'
import { findDomain, readDomain } from './domains.ts'
import { undefinedIfNotFound } from './errors.ts'
import { metadataOf, type Metadata } from './metadata.ts'
import type { HostContext } from './session.ts'
import { abortable, pause } from './waiting.ts'
import type { Element } from './xml.ts'

export interface MachineState {
  domain: Domain
  /** One of DomainState, and libvirt's reason for it. */
  state: number
  reason: number
  isOn: boolean
  /** The running machine where there is one, else the definition. */
  xml: Element
  metadata: Metadata
}

const OFF: number[] = [DomainState.shutoff, DomainState.crashed, DomainState.none]

/** Undefined as well for a domain of that name which is not ours. */
export async function findMachine(context: HostContext, vmId: string, signal: AbortSignal): Promise<MachineState | undefined> {
  const domain = await findDomain(context, vmId, signal)
  const xml = domain && (await readDomain(context, domain, signal))
  const metadata = xml && metadataOf(xml)
  const found =
    domain && (await context.call(`look at ${domain.name}`, signal, (host) => undefinedIfNotFound(host.domains.getState({ domain }))))
  return metadata && found && { domain, ...found, isOn: !OFF.includes(found.state), xml, metadata }
}

export async function getMachine(context: HostContext, vmId: string, signal: AbortSignal): Promise<MachineState> {
  const found = await findMachine(context, vmId, signal)
  if (!found) throw new DriverError('not_found', `Host ${context.hostId} has no machine ${vmId}`)
  return found
}

export async function getRunning(context: HostContext, vmId: string, signal: AbortSignal): Promise<MachineState> {
  const found = await getMachine(context, vmId, signal)
  if (found.state === DomainState.running || found.state === DomainState.blocked) return found
  throw new DriverError('invalid_state', `Machine ${vmId} is in state ${found.state}`, { userMessage: 'The VM is not running.' })
}

export const isDomainOn = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<boolean> =>
  call(`look at ${domain.name}`, signal, async (host) => {
    const found = await undefinedIfNotFound(host.domains.getState({ domain }))
    return found !== undefined && !OFF.includes(found.state)
  })

const LOOK_AGAIN_MS = 1_000

/** Looks when one of the events comes, and now and then anyway, because events get lost. Undefined when the time is over. */
export async function awaitChange<T>(
  context: HostContext,
  domain: Domain,
  events: EventName[],
  order: { timeoutMs: number; look: () => Promise<T | undefined> },
  signal: AbortSignal,
): Promise<T | undefined> {
  const elapsedMs = stopwatch()
  let wake = Promise.withResolvers<void>()
  const heard = (event: EventOf<'lifecycle'> | EventOf<'agent'> | EventOf<'reboot'>): void => {
    if (event.domain.uuid === domain.uuid) wake.resolve()
  }
  const ends = await Promise.all(
    events.map((name) => context.call(`listen to ${domain.name}`, signal, (host) => host.subscribe(name, heard as never))),
  )
  try {
    for (;;) {
      wake = Promise.withResolvers<void>()
      const seen = await order.look()
      const leftMs = order.timeoutMs - elapsedMs()
      if (seen !== undefined || leftMs <= 0) return seen
      const stop = new AbortController()
      await context.call(`wait for ${domain.name}`, signal, () =>
        abortable(Promise.race([wake.promise, pause(Math.min(leftMs, LOOK_AGAIN_MS), stop.signal).catch(() => undefined)]), signal),
      )
      stop.abort()
    }
  } finally {
    for (const end of ends) end()
  }
}
