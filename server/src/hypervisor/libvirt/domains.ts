// Domains of ours: finding them and reading what they are.
import type { Domain } from '@berth/libvirt'
import { undefinedIfNotFound } from './errors.ts'
import { metadataOf, type Metadata } from './metadata.ts'
import { domainName, isHelperDomain } from './names.ts'
import type { HostContext } from './session.ts'
import { readXml, type Element } from './xml.ts'

export const findDomain = ({ call }: HostContext, vmId: string, signal: AbortSignal): Promise<Domain | undefined> =>
  call(`look for ${domainName(vmId)}`, signal, (host) => undefinedIfNotFound(host.domains.lookupByName({ name: domainName(vmId) })))

/** The running machine where there is one, else the definition. Undefined when it has gone meanwhile. */
export const readDomain = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<Element | undefined> =>
  call(`read ${domain.name}`, signal, async (host) => read(await undefinedIfNotFound(host.domains.getXml({ domain }))))

export const readDefinition = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<Element | undefined> =>
  call(`read ${domain.name}`, signal, async (host) => read(await undefinedIfNotFound(host.domains.getXml({ domain, flags: ['inactive'] }))))

const read = (xml: string | undefined): Element | undefined => (xml === undefined ? undefined : readXml(xml))

export interface ListedDomain {
  domain: Domain
  xml: Element
  /** Undefined for a stranger. */
  metadata: Metadata | undefined
}

export async function* eachDomain(context: HostContext, signal: AbortSignal): AsyncGenerator<ListedDomain> {
  for (const domain of await context.call('list machines', signal, (host) => host.domains.listAll())) {
    if (isHelperDomain(domain.name)) continue
    const xml = await readDomain(context, domain, signal)
    if (xml) yield { domain, xml, metadata: metadataOf(xml) }
  }
}
