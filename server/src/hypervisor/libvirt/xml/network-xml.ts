// Network XML of private networks, written and parsed. With SNAT the host forwards and translates; with DHCP dnsmasq serves static leases;
// with neither the host has no address in the network.
import { covers, parseCidr } from '../../../kernel/cidr.ts'
import type { NetworkSpec } from '../../driver.ts'
import { bridgeName, networkName } from '../core/resource-names.ts'
import { uuidOf } from '../core/resource-names.ts'
import { element, type Element, type Xml } from '../core/xml.ts'

const URI = 'urn:berth:network:1'

export interface Lease {
  mac: string
  address: string
}

export function networkXml(network: NetworkSpec, leases: Lease[] = []): string {
  const { networkId, enableSnat, enableDhcp } = network
  const name = networkName(networkId)
  return element(
    'network',
    {},
    element('name', {}, name),
    element('uuid', {}, uuidOf(name)),
    element('metadata', {}, specXml(network)),
    enableSnat && element('forward', { mode: 'nat' }),
    element('bridge', { name: bridgeName(networkId), stp: 'off', delay: 0 }),
    // Otherwise dnsmasq would resolve names of the host's own network.
    !(enableSnat && enableDhcp) && element('dns', { enable: 'no' }),
    hostAddress(network, leases),
  ).xml
}

function hostAddress({ cidr, gateway, enableSnat, enableDhcp }: NetworkSpec, leases: Lease[]): Xml | undefined {
  if (!gateway || !(enableSnat || enableDhcp)) return undefined
  const { prefix } = parseCidr(cidr)!
  return element('ip', { address: gateway, prefix }, enableDhcp && leases.length > 0 && element('dhcp', {}, leases.map(leaseXml)))
}

export const leaseXml = ({ mac, address }: Lease): Xml => element('host', { mac, ip: address })

const specXml = ({ networkId, cidr, gateway, enableSnat, enableDhcp }: NetworkSpec): Xml =>
  element('berth:network', {
    'xmlns:berth': URI,
    id: networkId,
    cidr,
    gateway: gateway ?? undefined,
    snat: enableSnat ? 'yes' : 'no',
    dhcp: enableDhcp ? 'yes' : 'no',
  })

/** Undefined for an unknown network. */
export function readNetwork(network: Element): NetworkSpec | undefined {
  const found = network.all('metadata').flatMap((each) => each.children)
  const { id, cidr, gateway, snat, dhcp } = found.find((each) => Object.values(each.attributes).includes(URI))?.attributes ?? {}
  if (!id || !cidr) return undefined
  return { networkId: id, cidr, gateway: gateway ?? null, enableSnat: snat === 'yes', enableDhcp: dhcp === 'yes' }
}

export const readLeases = (network: Element): Lease[] =>
  network.all('ip/dhcp/host').map(({ attributes: { mac = '', ip = '' } }) => ({ mac, address: ip }))

export const isSameNetwork = (a: NetworkSpec, b: NetworkSpec): boolean =>
  a.cidr === b.cidr && a.gateway === b.gateway && a.enableSnat === b.enableSnat && a.enableDhcp === b.enableDhcp

/** Whether the host itself has an address in it. */
export const isRouted = ({ enableSnat, enableDhcp }: NetworkSpec): boolean => enableSnat || enableDhcp

export function overlaps(a: string, b: string): boolean {
  const [one, other] = [parseCidr(a), parseCidr(b)]
  return one !== null && other !== null && (covers(one, other) || covers(other, one))
}
