// The network card that carries the public network as a port of a bridge, whose own interface takes over what the card had: addresses, routes,
// MAC and MTU. All of it is decided here, from what `ip -json` shows, and becomes commands of a shell.
import { chainCommands, removeCommands, type Chain } from './iptables.ts'
import { KERNEL_DATAPATH } from './open-vswitch.ts'
import { SetupError, type Configuration, type Uplink } from './setup-step.ts'

/** Its own interface has the addresses of the host, and none of those of br-ex. */
export const UPLINK_BRIDGE = 'br-uplink'
/** Where the public network is a VLAN of the card: behind a port of br-uplink that adds and removes the tag. */
export const VLAN_BRIDGE = 'br-vlan'
export const VLAN_PORTS = { uplink: 'berth-tagged', vlan: 'berth-untagged' }

/** Of `ip -json -details addr`. */
export interface Link {
  ifname: string
  flags: string[]
  mtu: number
  link_type: string
  address?: string
  /** The bridge, bond or VRF that it is part of. */
  master?: string
  linkinfo?: { info_kind?: string }
  addr_info: LinkAddress[]
}

interface LinkAddress {
  family: string
  local: string
  prefixlen: number
  scope: string
  broadcast?: string
  /** Of the other end of a point-to-point link. */
  address?: string
  metric?: number
  noprefixroute?: boolean
  dynamic?: boolean
  temporary?: boolean
}

/** Of `ip -json route show table all`. */
export type LinkRoute = Record<string, unknown>

/** Kinds of interfaces that carry frames of others; a network card has none. */
const KINDS = ['bond', 'team', 'vlan', 'veth']

/** `bridge` is the one of Open vSwitch that it is a port of already. */
export function requireNic(
  links: readonly Link[],
  nic: string,
  { bridge, wireless }: { bridge: string | null; wireless: boolean },
): Link & { address: string } {
  const link = links.find(({ ifname }) => ifname === nic)
  const others = links.filter((each) => isNic(each) && each.master === undefined).map(({ ifname }) => ifname)
  const choose = others.length > 0 ? `choose one of: ${others.join(', ')}` : 'look for network cards: ip -brief link'
  if (!link) throw new SetupError(`There is no network card ${nic}`, choose)
  if (bridge !== null)
    throw new SetupError(`${nic} is a port of the bridge ${bridge}`, `take it out first: ovs-vsctl del-port ${bridge} ${nic}`)
  if (link.master !== undefined) throw new SetupError(`${nic} is part of ${link.master}`, `take it out of ${link.master}, or ${choose}`)
  // Access points take frames of the station's own address only.
  if (wireless) throw new SetupError(`${nic} is wireless, and cannot carry frames of VMs`, choose)
  if (!isNic(link)) throw new SetupError(`${nic} is ${link.linkinfo?.info_kind ?? link.link_type}, not a network card or bond`, choose)
  if (!SAFE.test(nic)) throw new SetupError(`${nic} has characters that no script can handle`, `rename it, or ${choose}`)
  return { ...link, address: link.address! }
}

const isNic = ({ link_type, address, linkinfo }: Link): boolean =>
  link_type === 'ether' && address !== undefined && (linkinfo?.info_kind === undefined || KINDS.includes(linkinfo.info_kind))

/** Refuses what would come back to the card, or cannot be repeated elsewhere. */
export function requireStatic({ ifname, addr_info }: Link): void {
  const leased = addr_info.find(
    ({ dynamic, temporary, family, prefixlen }) => dynamic && !temporary && (family === 'inet' || prefixlen === 128),
  )
  if (leased)
    throw new SetupError(
      `${ifname} has ${leased.local} from DHCP, whose client would put it back there`,
      `configure the addresses of ${ifname} statically, then run this again`,
    )
  const pair = addr_info.find(({ address }) => address !== undefined)
  if (pair) throw new SetupError(`${ifname} has ${pair.local} with a peer, ${pair.address}`, 'use an address with a prefix instead')
}

/** What has to move with the device. */
export function configurationOf({ ifname, addr_info }: Link, routes: { 4: LinkRoute[]; 6: LinkRoute[] }): Configuration {
  // The kernel makes the routes of addresses itself, but for those that ask it not to.
  const keepsOwn = addr_info.some(({ noprefixroute }) => noprefixroute)
  const own = ([4, 6] as const).flatMap((family) =>
    routes[family]
      .filter((route) => isOn(route, ifname) && !isAutomatic(route) && (keepsOwn || route['protocol'] !== 'kernel'))
      .map((route) => ({ hasNextHop: 'gateway' in route || 'via' in route, text: routeText(family, route) })),
  )
  return {
    addresses: addr_info.filter(({ temporary }) => !temporary).map(addressText),
    routes: own.toSorted((one, other) => Number(one.hasNextHop) - Number(other.hasNextHop)).map(({ text }) => text),
  }
}

/** IPv6 addresses are used without looking for duplicates: the card has had them. Those of router advertisements stay as they are. */
function addressText({ family, local, prefixlen, scope, broadcast, metric, noprefixroute }: LinkAddress): string {
  const words = [
    `${local}/${prefixlen}`,
    ...(broadcast ? ['broadcast', broadcast] : []),
    ...(family === 'inet' && scope !== 'global' ? ['scope', scope] : []),
    ...(metric ? ['metric', String(metric)] : []),
    ...(noprefixroute ? ['noprefixroute'] : []),
    ...(family === 'inet6' ? ['nodad'] : []),
  ]
  return requireSafe(words).join(' ')
}

const isOn = (route: LinkRoute, nic: string): boolean =>
  route['dev'] === nic || (Array.isArray(route['nexthops']) && route['nexthops'].some((hop: { dev?: string }) => hop.dev === nic))

/** Those that follow from addresses, and what the kernel remembers about single destinations. */
const isAutomatic = ({ type = 'unicast', protocol }: LinkRoute): boolean => type !== 'unicast' || protocol === 'redirect'

/** `expires`: routes of router advertisements stay. */
const IGNORED = new Set(['dev', 'type', 'expires', 'flags', 'dst', 'gateway', 'via', 'metrics'])
const NAMES: Record<string, string> = { prefsrc: 'src', metric: 'metric', protocol: 'proto', scope: 'scope', table: 'table', pref: 'pref' }

function routeText(family: 4 | 6, route: LinkRoute): string {
  const refuse = (part: string): never => {
    throw new SetupError(
      `The route to ${String(route['dst'])} has ${part}, which cannot be moved to ${UPLINK_BRIDGE}`,
      'replace it by a plain route, then run this again',
    )
  }
  const words = [`-${family}`, String(route['dst'])]
  const {
    gateway,
    via,
    flags = [],
    metrics = [],
  } = route as {
    gateway?: string
    via?: { family: string; host: string }
    flags?: string[]
    metrics?: Record<string, unknown>[]
  }
  if (gateway !== undefined) words.push('via', gateway)
  if (via !== undefined) words.push('via', via.family, via.host)
  for (const [key, value] of Object.entries(route)) {
    if (NAMES[key]) words.push(NAMES[key], String(value))
    else if (!IGNORED.has(key)) refuse(key)
  }
  for (const [key, value] of metrics.flatMap((each) => Object.entries(each))) {
    if (key !== 'mtu' && key !== 'advmss') refuse(key)
    words.push(key, String(value))
  }
  if (flags.includes('onlink')) words.push('onlink')
  return requireSafe(words).join(' ')
}

const SAFE = /^[\w.:/-]+$/

function requireSafe(words: string[]): string[] {
  const odd = words.find((word) => !SAFE.test(word))
  if (odd !== undefined) throw new SetupError(`${odd} is no word of a route or address`, 'remove that route or address: ip route, ip addr')
  return words
}

/** Rules for what comes in by the card would not match what comes in by the bridge: the machine could be closed, or open. */
export const isFirewallReady = (rules: string, nic: string): boolean => {
  const names = (device: string): boolean => new RegExp(`(^|[\\s"{,])${device.replaceAll('.', '\\.')}($|[\\s"},])`, 'm').test(rules)
  return !names(nic) || names(UPLINK_BRIDGE)
}

/** Next hops on the link: the host is connected as before if they answer as before. */
export const gatewaysIn = ({ routes }: Configuration): string[] => [
  ...new Set(routes.flatMap((route) => /\svia (?:inet6? )?(\S+)/.exec(route)?.[1] ?? [])),
]

const sysctl = (device: string, family: 4 | 6, name: string): string => `/proc/sys/net/ipv${family}/conf/${device}/${name}`
/** Where there is no IPv6 there is no such file. */
const set = (device: string, family: 4 | 6, name: string, value: number): string => {
  const path = sysctl(device, family, name)
  return `[ ! -e ${path} ] || echo ${value} > ${path}`
}

/** What the interface of the bridge must be set to: it answers ARP for its own addresses only, not for those of br-ex; and a router
 *  advertisement may be a guest's. */
export const UPLINK_SYSCTLS = [
  { family: 4, name: 'arp_ignore', value: 1 },
  { family: 4, name: 'arp_announce', value: 2 },
  { family: 6, name: 'accept_ra', value: 0 },
] as const
export const uplinkSysctl = ({ family, name }: (typeof UPLINK_SYSCTLS)[number]): string => sysctl(UPLINK_BRIDGE, family, name)

/** When ovs-vswitchd forwards in user space, the kernel also receives every frame of the card, and would take each packet twice. */
export const copiesOf = ({ nic }: Pick<Uplink, 'nic'>): Chain[] =>
  (['iptables', 'ip6tables'] as const).map((tool) => ({
    tool,
    table: 'raw',
    parent: 'PREROUTING',
    name: 'BERTH-UPLINK',
    rules: [`-i ${nic} -j DROP`],
    first: true,
  }))

/** OVN lets router advertisements of guests pass all its rules: they do not get to the wire. Those of routers there, and of the host, pass. */
export const ADVERTISEMENTS = 'icmp6,icmp_type=134'
const guardCommands = ({ nic }: Pick<Uplink, 'nic'>): string => `
ovs-ofctl --timeout=30 del-flows ${UPLINK_BRIDGE} ${ADVERTISEMENTS}
for each in '"${nic}"' LOCAL; do ovs-ofctl --timeout=30 add-flow ${UPLINK_BRIDGE} "priority=101,in_port=$each,${ADVERTISEMENTS},actions=NORMAL"; done
ovs-ofctl --timeout=30 add-flow ${UPLINK_BRIDGE} priority=100,${ADVERTISEMENTS},actions=drop
`

const configure = (device: string, { addresses, routes }: Configuration): string =>
  [
    `ip link set ${device} up`,
    ...addresses.map((address) => `ip addr replace ${address} dev ${device}`),
    ...routes.map((route) => `ip ${route.replace(' ', ' route replace ')} dev ${device}`),
  ].join('\n')

/** For `sh -e`; idempotent. In user space, OVS takes and gives packets as they are: neither the card nor the bridge may leave checksums to the
 *  other end, or join packets. */
export const plugInCommands = (uplink: Uplink): string => {
  const { nic, vlan, mac, mtu, ipv6 } = uplink
  return `
tries=0
until [ -e /sys/class/net/${nic} ]; do tries=$((tries + 1)); [ $tries -lt 60 ] || exit 1; sleep 0.5; done
if [ -e ${KERNEL_DATAPATH} ]; then datapath=system; else datapath=netdev; fi
ovs-vsctl --timeout=30 --may-exist add-br ${UPLINK_BRIDGE} \\
  -- set Bridge ${UPLINK_BRIDGE} datapath_type=$datapath 'other-config:hwaddr="${mac}"' -- set Interface ${UPLINK_BRIDGE} mtu_request=${mtu}
${UPLINK_SYSCTLS.map(({ family, name, value }) => set(UPLINK_BRIDGE, family, name, value)).join('\n')}
${set(UPLINK_BRIDGE, 6, 'disable_ipv6', ipv6 ? 0 : 1)}
if [ $datapath = netdev ]; then
ethtool -K ${UPLINK_BRIDGE} tx off >/dev/null
for each in tx gro lro; do ethtool -K ${nic} $each off >/dev/null 2>&1 || true; done
ip link set ${nic} arp off
fi
ip link set ${UPLINK_BRIDGE} addrgenmode none 2>/dev/null || true
ip link set ${nic} up
ovs-vsctl --timeout=30 --may-exist add-port ${UPLINK_BRIDGE} ${nic}
if [ $datapath = netdev ]; then
${copiesOf(uplink).map(chainCommands).join('')}
fi
ip addr flush dev ${nic}
${set(nic, 6, 'disable_ipv6', 1)}
${configure(UPLINK_BRIDGE, uplink)}
${guardCommands(uplink)}
${vlan === null ? `ovs-vsctl --timeout=30 --if-exists del-port ${VLAN_PORTS.uplink} -- --if-exists del-br ${VLAN_BRIDGE}` : vlanCommands(vlan)}
`
}

const vlanCommands = (vlan: number): string => `
ovs-vsctl --timeout=30 --may-exist add-br ${VLAN_BRIDGE} -- set Bridge ${VLAN_BRIDGE} datapath_type=$datapath \\
  -- --may-exist add-port ${UPLINK_BRIDGE} ${VLAN_PORTS.uplink} -- set Port ${VLAN_PORTS.uplink} tag=${vlan} \\
  -- set Interface ${VLAN_PORTS.uplink} type=patch options:peer=${VLAN_PORTS.vlan} \\
  -- --may-exist add-port ${VLAN_BRIDGE} ${VLAN_PORTS.vlan} -- set Interface ${VLAN_PORTS.vlan} type=patch options:peer=${VLAN_PORTS.uplink}
`

/** Whatever fails, the rest is done. Idempotent, from any state between. */
export const unplugCommands = (uplink: Uplink): string => {
  const { nic, mtu, ipv6, offloads } = uplink
  return `
set +e
${copiesOf(uplink).map(removeCommands).join('\n')}
ovs-vsctl --timeout=20 --if-exists del-port ${UPLINK_BRIDGE} ${nic} -- --if-exists del-br ${VLAN_BRIDGE} -- --if-exists del-br ${UPLINK_BRIDGE}
ip link set ${nic} arp on mtu ${mtu}
${offloads ? `for each in tx gro; do ethtool -K ${nic} $each on >/dev/null 2>&1; done` : ''}
${set(nic, 6, 'disable_ipv6', ipv6 ? 0 : 1)}
${configure(nic, uplink)}
true
`
}
