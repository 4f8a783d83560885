// A VM's packet filter as libvirt writes one. Frames pass two sieves: the first knows who a guest may claim to be, the second is the
// customer's firewall and keeps track of connections.
//
// Every line of the second names its connection states. Without them libvirt mirrors each line into the other direction, and a rule for
// what comes in would decide about what goes out as well.
import { formatAddress, parseCidr } from '../../../kernel/cidr.ts'
import { DriverError, type Filter, type FilterAction, type FilterRule } from '../../driver.ts'
import { filterName, filterUuid, PRIVATE_FILTER } from '../core/resource-names.ts'
import { uuidOf } from '../core/resource-names.ts'
import { element, type Attributes, type Xml } from '../core/xml.ts'

const FIRST_RULE = -800
const DEFAULT = 1000

type Direction = 'in' | 'out' | 'inout'

const line = (action: string, direction: Direction, priority: number, match: Xml): Xml =>
  element('rule', { action, direction, priority }, match)

/** Only the guest's own MAC and address leave it, it answers no DHCP requests of others, and nothing but IPv4 and ARP passes. */
const OWN_ADDRESS_ONLY: Xml[] = [
  line('drop', 'out', -1000, element('mac', { match: 'no', srcmacaddr: '$MAC' })),
  line('accept', 'out', -990, element('ip', { srcipaddr: '0.0.0.0', protocol: 'udp', srcportstart: 68, dstportstart: 67 })),
  line('drop', 'out', -980, element('ip', { protocol: 'udp', srcportstart: 67, dstportstart: 68 })),
  line('drop', 'out', -970, element('ip', { match: 'no', srcipaddr: '$IP' })),
  line('drop', 'out', -960, element('arp', { match: 'no', arpsrcmacaddr: '$MAC' })),
  // A guest asks with this address whether its own is still free.
  line('accept', 'out', -959, element('arp', { arpsrcipaddr: '0.0.0.0' })),
  line('drop', 'out', -958, element('arp', { match: 'no', arpsrcipaddr: '$IP' })),
  line('accept', 'inout', -950, element('mac', { protocolid: 'ipv4' })),
  line('accept', 'inout', -950, element('mac', { protocolid: 'arp' })),
  line('drop', 'inout', -940, element('mac')),
]

const KNOWN_CONNECTIONS: Xml[] = (['in', 'out'] as const).map((direction) =>
  line('accept', direction, -900, element('all', { state: 'ESTABLISHED,RELATED' })),
)

const DHCP: Xml[] = [
  line('accept', 'out', -890, element('udp', { srcportstart: 68, dstportstart: 67, state: 'NEW' })),
  line('accept', 'in', -890, element('udp', { srcportstart: 67, dstportstart: 68, state: 'NEW' })),
]

/** Of interfaces in private networks; the guest's MAC and address come from each interface. */
export const privateFilterXml = (): string =>
  element('filter', { name: PRIVATE_FILTER, chain: 'root' }, element('uuid', {}, uuidOf(PRIVATE_FILTER)), OWN_ADDRESS_ONLY).xml

export function filterXml(vmId: string, filter: Filter): string {
  if (filter.rules.length > DEFAULT - FIRST_RULE)
    throw new DriverError('unsupported', `A filter of ${filter.rules.length} rules for ${vmId} is longer than a host can hold`)
  const rules = filter.rules.flatMap((rule, position) =>
    matches(rule).map((match) => line(rule.action.toLowerCase(), rule.direction === 'IN' ? 'in' : 'out', FIRST_RULE + position, match)),
  )
  const defaults = [
    line(filter.defaultInbound.toLowerCase(), 'in', DEFAULT, element('all', { state: 'NEW,INVALID' })),
    line(filter.defaultOutbound.toLowerCase(), 'out', DEFAULT, element('all', { state: 'NEW,INVALID' })),
  ]
  const lines = [...OWN_ADDRESS_ONLY, ...KNOWN_CONNECTIONS, ...DHCP, ...refusals(filter), ...rules, ...defaults]
  return element('filter', { name: filterName(vmId), chain: 'root' }, element('uuid', {}, filterUuid(vmId)), lines).xml
}

/** The host tells a guest that what it sent was refused by a message that belongs to no connection, since there is none. */
const refusals = ({ rules, defaultOutbound }: Filter): Xml[] =>
  defaultOutbound === 'REJECT' || rules.some(({ direction, action }) => direction === 'OUT' && action === 'REJECT')
    ? [line('accept', 'in', -880, element('icmp', { type: 3, code: 3, state: 'INVALID' }))]
    : []

/** What belongs to no connection is refused by rules that refuse, and never let in by one that accepts. */
const stateOf = (action: FilterAction): string => (action === 'ACCEPT' ? 'NEW' : 'NEW,INVALID')

/** One line for each combination of port range, source and destination. */
function matches({ protocol, action, ports, sources, destinations }: FilterRule): Xml[] {
  if (protocol === 'ICMPV6') return [] // no IPv6 passes, so that there is nothing to decide
  const state = stateOf(action)
  const from = addresses('src', sources)
  const to = addresses('dst', destinations)
  return protocolsOf(protocol, ports).flatMap(({ name, port }) =>
    from.flatMap((source) => to.map((destination) => element(name, { ...source, ...destination, state, ...port }))),
  )
}

function protocolsOf(protocol: FilterRule['protocol'], ports: FilterRule['ports']): { name: string; port: Attributes }[] {
  const name = protocol === 'ANY' ? 'all' : protocol.toLowerCase()
  if (ports.length === 0) return [{ name, port: {} }]
  const withPorts = protocol === 'ANY' ? ['tcp', 'udp'] : [name]
  return withPorts.flatMap((each) => ports.map(({ from, to }) => ({ name: each, port: { dstportstart: from, dstportend: to } })))
}

/** No addresses mean any. Addresses of which none is IPv4 mean none at all, because nothing else passes. */
function addresses(side: 'src' | 'dst', list: string[]): Attributes[] {
  if (list.length === 0) return [{}]
  const ranges = list.flatMap((text) => parseCidr(text.includes('/') ? text : `${text}/32`) ?? [])
  if (ranges.some(({ prefix }) => prefix === 0)) return [{}]
  return ranges.map(({ base, prefix }) => ({ [`${side}ipaddr`]: formatAddress(base), [`${side}ipmask`]: prefix }))
}
