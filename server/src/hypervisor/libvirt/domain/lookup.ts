// Looks up domains and their state, waits for changes of state, and reads interfaces, live and from the definition.
import { type Domain, DomainState, type EventName, type EventOf, type Host } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import { DriverError } from '../../driver.ts'
import { abortable, sleep } from '../core/abortable.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import type { HostContext } from '../core/host-context.ts'
import { domainName, isHelperDomain } from '../core/resource-names.ts'
import { type Element, readXml } from '../core/xml.ts'
import { type Metadata, metadataOf } from '../xml/domain-metadata.ts'
import { interfacesOf, macOf } from '../xml/interface-xml.ts'

export const findDomain = ({ call }: HostContext, vmId: string, signal: AbortSignal): Promise<Domain | undefined> =>
  call(`find ${domainName(vmId)}`, signal, (host) => undefinedIfNotFound(host.domains.lookupByName({ name: domainName(vmId) })))

/** Live XML of a running domain, else the definition. Undefined for a domain that does not exist any more. */
export const readDomain = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<Element | undefined> =>
  call(`read ${domain.name}`, signal, async (host) => read(await undefinedIfNotFound(host.domains.getXml({ domain }))))

export const readDefinition = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<Element | undefined> =>
  call(`read ${domain.name}`, signal, async (host) => read(await undefinedIfNotFound(host.domains.getXml({ domain, flags: ['inactive'] }))))

const read = (xml: string | undefined): Element | undefined => (xml === undefined ? undefined : readXml(xml))

export interface ListedDomain {
  domain: Domain
  xml: Element
  /** Undefined for an unknown domain. */
  metadata: Metadata | undefined
}

export async function* eachDomain(context: HostContext, signal: AbortSignal): AsyncGenerator<ListedDomain> {
  for (const domain of await context.call('list domains', signal, (host) => host.domains.listAll())) {
    if (isHelperDomain(domain.name)) continue
    const xml = await readDomain(context, domain, signal)
    if (xml) yield { domain, xml, metadata: metadataOf(xml) }
  }
}

export interface MachineState {
  domain: Domain
  /** One of DomainState, and libvirt's reason for it. */
  state: number
  reason: number
  isOn: boolean
  /** Live XML of a running domain, else the definition. */
  xml: Element
  metadata: Metadata
}

const OFF: number[] = [DomainState.shutoff, DomainState.crashed, DomainState.none]

/** Undefined as well for a domain of that name without our metadata. */
export async function findMachine(context: HostContext, vmId: string, signal: AbortSignal): Promise<MachineState | undefined> {
  const domain = await findDomain(context, vmId, signal)
  const xml = domain && (await readDomain(context, domain, signal))
  const metadata = xml && metadataOf(xml)
  const found =
    domain &&
    (await context.call(`read the state of ${domain.name}`, signal, (host) => undefinedIfNotFound(host.domains.getState({ domain }))))
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
  throw new DriverError('invalid_state', `Machine ${vmId} is in state ${found.state}`, {
    userMessage: 'The VM is not running. Start it first.',
  })
}

export const isDomainOn = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<boolean> =>
  call(`read the state of ${domain.name}`, signal, (host) => isOn(host, domain))

/** False as well for a domain that does not exist. */
export async function isOn(host: Host, domain: Domain): Promise<boolean> {
  const found = await undefinedIfNotFound(host.domains.getState({ domain }))
  return found !== undefined && !OFF.includes(found.state)
}

const POLL_INTERVAL_MS = 1_000

/** Calls `look` after each of the events, and periodically, because events may be lost. Undefined at the timeout. */
export async function awaitChange<T>(
  context: HostContext,
  domain: Domain,
  events: EventName[],
  request: { timeoutMs: number; look: () => Promise<T | undefined> },
  signal: AbortSignal,
): Promise<T | undefined> {
  const elapsedMs = stopwatch()
  let wake = Promise.withResolvers<void>()
  const wakeUp = (event: EventOf<'lifecycle'> | EventOf<'agent'> | EventOf<'reboot'>): void => {
    if (event.domain.uuid === domain.uuid) wake.resolve()
  }
  const ends = await Promise.all(
    events.map((name) => context.call(`listen to ${domain.name}`, signal, (host) => host.subscribe(name, wakeUp as never))),
  )
  try {
    for (;;) {
      wake = Promise.withResolvers<void>()
      const seen = await request.look()
      const leftMs = request.timeoutMs - elapsedMs()
      if (seen !== undefined || leftMs <= 0) return seen
      const stop = new AbortController()
      const timer = sleep(Math.min(leftMs, POLL_INTERVAL_MS), stop.signal).catch(() => undefined)
      await context.call(`wait for ${domain.name}`, signal, () => abortable(Promise.race([wake.promise, timer]), signal))
      stop.abort()
    }
  } finally {
    for (const end of ends) end()
  }
}

export interface InterfaceXml {
  definition: Element | undefined
  /** Undefined also while the domain is off. */
  live: Element | undefined
}

export async function findInterfaceXml(
  context: HostContext,
  machine: { domain: Domain; isOn: boolean },
  mac: string,
  signal: AbortSignal,
): Promise<InterfaceXml> {
  const pick = (xml: Element | undefined): Element | undefined => xml && interfacesOf(xml).find((nic) => macOf(nic) === mac)
  return {
    definition: pick(await readDefinition(context, machine.domain, signal)),
    live: machine.isOn ? pick(await readDomain(context, machine.domain, signal)) : undefined,
  }
}

/** Of a domain that is off, with all that libvirt keeps for it: also the variables of its firmware and its TPM. */
export const undefine = async ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<void> => {
  const flags = ['managedSave', 'snapshotsMetadata', 'checkpointsMetadata', 'nvram'] as const
  await call(`undefine ${domain.name}`, signal, (host) => undefinedIfNotFound(host.domains.undefine({ domain, flags: [...flags] })))
}
