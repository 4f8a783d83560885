// nwfilter XML of a VM. Frames pass two parts: anti-spoofing by MAC and address, then the customer's stateful firewall.
//
// Every firewall rule names its connection states. Without them libvirt adds the mirrored rule for the other direction, and an inbound rule
// would apply to outbound traffic too.
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

/** Only packets from the guest's own MAC and address pass, no DHCP replies, and nothing but IPv4 and ARP. */
const OWN_ADDRESS_ONLY: Xml[] = [
  line('drop', 'out', -1000, element('mac', { match: 'no', srcmacaddr: '$MAC' })),
  line('accept', 'out', -990, element('ip', { srcipaddr: '0.0.0.0', protocol: 'udp', srcportstart: 68, dstportstart: 67 })),
  line('drop', 'out', -980, element('ip', { protocol: 'udp', srcportstart: 67, dstportstart: 68 })),
  line('drop', 'out', -970, element('ip', { match: 'no', srcipaddr: '$IP' })),
  line('drop', 'out', -960, element('arp', { match: 'no', arpsrcmacaddr: '$MAC' })),
  // Address conflict detection sends ARP probes from 0.0.0.0.
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
    throw new DriverError('unsupported', `A filter of ${filter.rules.length} rules for ${vmId} exceeds what a host supports`)
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

/** The ICMP message of a REJECT belongs to no connection, since there is none. */
const refusals = ({ rules, defaultOutbound }: Filter): Xml[] =>
  defaultOutbound === 'REJECT' || rules.some(({ direction, action }) => direction === 'OUT' && action === 'REJECT')
    ? [line('accept', 'in', -880, element('icmp', { type: 3, code: 3, state: 'INVALID' }))]
    : []

/** INVALID packets are matched by DROP and REJECT rules, never by ACCEPT rules. */
const stateOf = (action: FilterAction): string => (action === 'ACCEPT' ? 'NEW' : 'NEW,INVALID')

/** One rule per combination of port range, source and destination. */
function matches({ protocol, action, ports, sources, destinations }: FilterRule): Xml[] {
  if (protocol === 'ICMPV6') return [] // IPv6 never passes
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

/** An empty list matches any address. A list without IPv4 addresses matches nothing, because only IPv4 passes. */
function addresses(side: 'src' | 'dst', list: string[]): Attributes[] {
  if (list.length === 0) return [{}]
  const ranges = list.flatMap((text) => parseCidr(text.includes('/') ? text : `${text}/32`) ?? [])
  if (ranges.some(({ prefix }) => prefix === 0)) return [{}]
  return ranges.map(({ base, prefix }) => ({ [`${side}ipaddr`]: formatAddress(base), [`${side}ipmask`]: prefix }))
}
