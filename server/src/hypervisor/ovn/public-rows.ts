// The public network as rows: what all ports share.
import { complementOf, formatIpRange, parseIpRange } from '../../kernel/ip-range.ts'
import { CLOSED_RANGES, NAT_GATEWAY, type PublicNetworkSpec } from '../network-controller.ts'
import { portIn } from './match.ts'
import type { WantedRow } from './plan.ts'
import { acl, addressSet, ALWAYS, CLOSED, digest, GUESTS, OPEN, TO_HOST_PORTS } from './rows.ts'

const PUBLIC_GUESTS = 'berth_public'
const CLOSED6 = 'berth_closed6'
const OPEN6 = 'berth_open6'
const BEYOND = 'berth_beyond'
const BEYOND6 = 'berth_beyond6'

/** Routers are spread over this many orders of the hosts, each of which has another host first. */
const GATEWAY_GROUPS = 8
/** OVN follows at most this many. */
const GATEWAYS_PER_GROUP = 5

/** How many packets a second all routers on a host together learn neighbours from (`fair` has no effect there): a guest may claim every address
 *  of its ranges, and each is a row of the southbound database and a flow on every host. No router needs what it learns: OVN knows the guests of
 *  its networks, and the gateway is told to it. */
const LEARNING_RATE = 20
const LEARNING = 'berth-learning'

/** Physical networks, which `ovn-bridge-mappings` of every host connects to bridges: the public one, which may be one wire of all hosts, and
 *  that between the routers of private networks and their host, which translates their addresses and never leaves it. */
export const PUBLIC_PHYSICAL_NETWORK = 'public'
export const NAT_PHYSICAL_NETWORK = 'nat'
/** The port of a physical network in its switch. */
export const uplinkPortOf = (network: string): string => `berth-${network}-uplink`

/** A switch with a port to a physical network. Routers need not ask for the addresses there. */
const localSwitch = (key: string, uplinkKey: string, network: string, addresses: string[] = []): WantedRow[] => [
  { table: 'Logical_Switch', key, columns: { name: `berth-${network}`, other_config: {} } },
  {
    table: 'Logical_Switch_Port',
    key: uplinkKey,
    columns: { name: uplinkPortOf(network), type: 'localnet', addresses: [...addresses, 'unknown'], options: { network_name: network } },
    in: [{ key, column: 'ports' }],
  },
]

/** What all ports share. `gateways` are the chassis that routers reach the outside through. */
export const publicRows = ({ ranges, withheld = [], allowed }: PublicNetworkSpec, gateways: readonly string[]): WantedRow[] => [
  ...localSwitch('switch', 'uplink', PUBLIC_PHYSICAL_NETWORK),
  ...localSwitch('nat-switch', 'nat-uplink', NAT_PHYSICAL_NETWORK, [`${NAT_GATEWAY.mac} ${NAT_GATEWAY.address}`]),
  ...gatewayRows(gateways),
  { table: 'Meter_Band', key: 'learning-band', columns: { action: 'drop', rate: LEARNING_RATE, burst_size: LEARNING_RATE } },
  {
    table: 'Meter',
    key: 'learning-meter',
    columns: { name: LEARNING, unit: 'pktps', fair: true, bands: [{ key: 'learning-band' }] },
  },
  { table: 'Copp', key: 'learning', columns: { name: LEARNING, meters: { arp: LEARNING, 'nd-na': LEARNING, 'nd-ns': LEARNING } } },
  addressSet('closed', CLOSED, 4, CLOSED_RANGES),
  addressSet('closed6', CLOSED6, 6, CLOSED_RANGES),
  addressSet('open', OPEN, 4, [...ranges, ...allowed]),
  addressSet('open6', OPEN6, 6, [...ranges, ...allowed]),
  addressSet('beyond', BEYOND, 4, [...beyond(4, ranges), ...withheld]),
  addressSet('beyond6', BEYOND6, 6, [...beyond(6, ranges), ...withheld]),
  { table: 'Port_Group', key: 'guests', columns: { name: GUESTS } },
  { table: 'Port_Group', key: 'public', columns: { name: PUBLIC_GUESTS } },
  acl('no-dhcp-server', 'guests', {
    direction: 'OUT',
    priority: ALWAYS + 2,
    match: `${portIn('OUT', GUESTS)} && ((udp.src == 67 && udp.dst == 68) || (udp.src == 547 && udp.dst == 546))`,
    action: 'drop',
  }),
  // Nor does one hear its clients: what looks like a request passes the rules of customers on its way to OVN's own server.
  acl('no-dhcp-client', 'guests', {
    direction: 'IN',
    priority: ALWAYS + 2,
    match: `${portIn('IN', GUESTS)} && udp.src == 68 && udp.dst == 67`,
    action: 'drop',
  }),
  acl('not-closed', 'public', {
    direction: 'OUT',
    priority: ALWAYS + 1,
    match: `${portIn('OUT', PUBLIC_GUESTS)} && ip4.dst == $${CLOSED} && ip4.dst != $${OPEN}`,
    action: 'drop',
  }),
  acl('not-closed6', 'public', {
    direction: 'OUT',
    priority: ALWAYS + 1,
    match: `${portIn('OUT', PUBLIC_GUESTS)} && ip6.dst == $${CLOSED6} && ip6.dst != $${OPEN6}`,
    action: 'drop',
  }),
  acl('no-wire-control', 'public', {
    direction: 'OUT',
    priority: ALWAYS + 1,
    match: `${portIn('OUT', PUBLIC_GUESTS)} && ${WIRE_CONTROL}`,
    action: 'drop',
  }),
  // OVN passes them by itself only where a rule tracks connections. Switches that follow who listens to what have to hear of neighbours too.
  acl('neighbours', 'public', {
    direction: 'OUT',
    priority: ALWAYS + 2,
    match: `${portIn('OUT', PUBLIC_GUESTS)} && (nd || mldv1 || mldv2)`,
    action: 'allow',
  }),
  // What one sends to all would cost each of them its traffic.
  acl('no-multicast', 'public', {
    direction: 'OUT',
    priority: ALWAYS + 1,
    match: `${portIn('OUT', PUBLIC_GUESTS)} && eth.mcast && ip`,
    action: 'drop',
  }),
  // Their host may translate their addresses to its own, and is a machine on the same wire. Guests have tunnels of their own between each other.
  acl('no-host-ports', 'public', {
    direction: 'OUT',
    priority: ALWAYS + 1,
    match: `${portIn('OUT', PUBLIC_GUESTS)} && ip4.dst == $${BEYOND} && ${TO_HOST_PORTS}`,
    action: 'drop',
  }),
  acl('no-host-ports6', 'public', {
    direction: 'OUT',
    priority: ALWAYS + 1,
    match: `${portIn('OUT', PUBLIC_GUESTS)} && ip6.dst == $${BEYOND6} && ${TO_HOST_PORTS}`,
    action: 'drop',
  }),
]

/** A set of what is outside, because `!=` to several ranges is many more flows. */
const beyond = (family: 4 | 6, ranges: readonly string[]): string[] =>
  complementOf(
    family,
    ranges.map((range) => parseIpRange(range)!),
  ).map(formatIpRange)

/** What routers and DHCP servers on a wire tell each other and their clients, mostly without a password: the link-local groups; EIGRP, OSPF, PIM
 *  and VRRP; DHCP, RIP and HSRP of both families. Guests have their addresses without DHCP. */
const WIRE_CONTROL = '(ip4.dst == 224.0.0.0/24 || ip.proto == {88, 89, 103, 112} || udp.dst == {67, 520, 521, 547, 1985, 2029})'

/** Each group begins with another chassis. */
function gatewayRows(gateways: readonly string[]): WantedRow[] {
  const sorted = gateways.toSorted()
  return Array.from({ length: GATEWAY_GROUPS }, (_, group) => {
    const start = sorted.length === 0 ? 0 : Math.floor((group * sorted.length) / GATEWAY_GROUPS)
    const members = [...sorted.slice(start), ...sorted.slice(0, start)].slice(0, GATEWAYS_PER_GROUP)
    return [
      { table: 'HA_Chassis_Group', key: `gateways-${group}`, columns: { name: `berth-gateways-${group}` } } as const,
      ...members.map((chassis, position): WantedRow => ({
        table: 'HA_Chassis',
        key: `gateway-${group}-${chassis}`,
        columns: { chassis_name: chassis, priority: 100 - position },
        in: [{ key: `gateways-${group}`, column: 'ha_chassis' }],
      })),
    ]
  }).flat()
}

export const gatewaysOf = (networkId: string): string => `gateways-${parseInt(digest(networkId).slice(0, 8), 16) % GATEWAY_GROUPS}`
