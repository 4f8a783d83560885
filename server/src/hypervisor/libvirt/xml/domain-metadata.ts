// What a domain remembers for us. Our ids let the fleet be read back from its hosts alone; the rest is what a second process must know:
// which restart was carried out, and that a stop was our order rather than the guest's.
import { ErrorCode, hasCode, MetadataType, type Domain, type Host } from '@berth/libvirt'
import { element, readXml, type Element, type Xml } from '../core/xml.ts'

const URI = 'urn:berth:vm:1'
const KEY = 'berth'

export interface Metadata {
  vmId: string
  accountId: string
  generation: number
  templateId: string
  hasAgent: boolean
  /** Of the last restart that was carried out. */
  restartId: string | null
  /** Since the last start. Ordered: it may have failed. Done: the machine was seen off. */
  stop: 'ordered' | 'done' | null
  /** Another one at every start by us: counters that began again tell themselves apart by it. */
  startId: string | null
}

/** The key that libvirt puts before the name when it is set alone must not be there twice. */
export function metadataXml(data: Metadata, isWithin: 'definition' | 'call'): Xml {
  const attributes = {
    ...(isWithin === 'definition' && { [`xmlns:${KEY}`]: URI }),
    id: data.vmId,
    account: data.accountId,
    generation: data.generation,
    template: data.templateId,
    agent: data.hasAgent ? 'yes' : 'no',
    restart: data.restartId ?? undefined,
    stop: data.stop ?? undefined,
    start: data.startId ?? undefined,
  }
  return element(isWithin === 'definition' ? `${KEY}:vm` : 'vm', attributes)
}

/** Undefined for a domain that is not ours. */
export function metadataOf(domain: Element): Metadata | undefined {
  const found = domain.all('metadata').flatMap((each) => each.children)
  const ours = found.find((each) => /(^|:)vm$/.test(each.name) && Object.values(each.attributes).includes(URI))
  return ours && readMetadata(ours)
}

function readMetadata({ attributes }: Element): Metadata | undefined {
  const { id, account, generation, template, agent, restart, stop, start } = attributes
  if (!id || !account || !template) return undefined
  return {
    vmId: id,
    accountId: account,
    generation: Number(generation),
    templateId: template,
    hasAgent: agent === 'yes',
    restartId: restart ?? null,
    stop: stop === 'ordered' || stop === 'done' ? stop : null,
    startId: start ?? null,
  }
}

/** Asked for by its URI, it comes without one. */
export const getMetadata = async (host: Host, domain: Domain): Promise<Metadata | undefined> =>
  readMetadata(readXml(await host.domains.getMetadata({ domain, type: MetadataType.element, uri: URI, flags: ['config'] })))

/** In the definition, and in the running machine where there is one: it may have gone off a moment ago. */
export async function setMetadata(host: Host, domain: Domain, data: Metadata): Promise<void> {
  const order = { domain, type: MetadataType.element, metadata: metadataXml(data, 'call').xml, key: KEY, uri: URI }
  await host.domains.setMetadata({ ...order, flags: ['live', 'config'] }).catch((error: unknown) => {
    if (!hasCode(error, ErrorCode.operationInvalid)) throw error
    return host.domains.setMetadata({ ...order, flags: ['config'] })
  })
}
