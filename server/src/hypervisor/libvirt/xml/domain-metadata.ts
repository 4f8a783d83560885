// Metadata of a domain. Our ids allow the fleet to be recovered from its hosts alone; the rest is shared between processes: which restart
// was performed, and whether a stop was requested by us or by the guest.
import { ErrorCode, hasCode, MetadataType, type Domain, type Host } from '@berth/libvirt'
import { element, readXml, type Element, type Xml } from '../core/xml.ts'

const URI = 'urn:berth:vm:1'
const KEY = 'berth'

export interface Metadata {
  vmId: string
  accountId: string
  generation: number
  /** Of the disk of its rescue system. */
  rescue: number | null
  templateId: string
  hasAgent: boolean
  /** Of the last restart that was performed. */
  restartId: string | null
  /** Since the last start. `ordered`: requested, may have failed. `done`: the domain was seen off. */
  stop: 'ordered' | 'done' | null
  /** New at every start by the driver: distinguishes counters that restarted at zero. */
  startId: string | null
}

/** setMetadata adds the namespace prefix itself, so a `call` must not contain it. */
export function metadataXml(data: Metadata, isWithin: 'definition' | 'call'): Xml {
  const attributes = {
    ...(isWithin === 'definition' && { [`xmlns:${KEY}`]: URI }),
    id: data.vmId,
    account: data.accountId,
    generation: data.generation,
    rescue: data.rescue ?? undefined,
    template: data.templateId,
    agent: data.hasAgent ? 'yes' : 'no',
    restart: data.restartId ?? undefined,
    stop: data.stop ?? undefined,
    start: data.startId ?? undefined,
  }
  return element(isWithin === 'definition' ? `${KEY}:vm` : 'vm', attributes)
}

/** Undefined for an unknown domain. */
export function metadataOf(domain: Element): Metadata | undefined {
  const found = domain.all('metadata').flatMap((each) => each.children)
  const own = found.find((each) => /(^|:)vm$/.test(each.name) && Object.values(each.attributes).includes(URI))
  return own && readMetadata(own)
}

function readMetadata({ attributes }: Element): Metadata | undefined {
  const { id, account, generation, rescue, template, agent, restart, stop, start } = attributes
  if (!id || !account || !template) return undefined
  return {
    vmId: id,
    accountId: account,
    generation: Number(generation),
    rescue: rescue === undefined ? null : Number(rescue),
    templateId: template,
    hasAgent: agent === 'yes',
    restartId: restart ?? null,
    stop: stop === 'ordered' || stop === 'done' ? stop : null,
    startId: start ?? null,
  }
}

/** libvirt returns the element without its namespace. */
export const getMetadata = async (host: Host, domain: Domain): Promise<Metadata | undefined> =>
  readMetadata(readXml(await host.domains.getMetadata({ domain, type: MetadataType.element, uri: URI, flags: ['config'] })))

/** In the definition, and in the running domain if there is one. A domain that has just gone off rejects `live`. */
export async function setMetadata(host: Host, domain: Domain, data: Metadata): Promise<void> {
  const request = { domain, type: MetadataType.element, metadata: metadataXml(data, 'call').xml, key: KEY, uri: URI }
  await host.domains.setMetadata({ ...request, flags: ['live', 'config'] }).catch((error: unknown) => {
    if (!hasCode(error, ErrorCode.operationInvalid)) throw error
    return host.domains.setMetadata({ ...request, flags: ['config'] })
  })
}
