// The public network and private ones as rows of OVN's northbound database. Names on chassis and in expressions consist of our ids alone.
import { createHash } from 'node:crypto'
import { complementOf, formatCidr, parseCidr } from '../../kernel/cidr.ts'
import { announcedRanges, CLOSED_RANGES, HOST_PORTS, type NetworkSpec, type PublicNetworkSpec } from '../network-controller.ts'
import { pipelineOf, portIn, type Direction } from './match.ts'
import type { WantedRow } from './plan.ts'

/** Physical networks, which `ovn-bridge-mappings` of every host connects to bridges: the public one, which may be one wire of all hosts, and
 *  that between the routers of private networks and their host, which translates their addresses and never leaves it. */
export const PUBLIC_PHYSICAL_NETWORK = 'public'
export const NAT_PHYSICAL_NETWORK = 'nat'
/** The port of a physical network in its switch. */
export const uplinkPortOf = (network: string): string => `berth-${network}-uplink`

export const PUBLIC = 'public'
export const networkObject = (networkId: string): string => `network/${networkId}`

/** Of a network with a way out: the key of the ranges that no limit counts. */
export const UNLIMITED_RANGES = 'unlimited-ranges'

const GUESTS = 'berth_guests'
const PUBLIC_GUESTS = 'berth_public'
const CLOSED = 'berth_closed'
const CLOSED6 = 'berth_closed6'
const OPEN = 'berth_open'
const OPEN6 = 'berth_open6'
const BEYOND = 'berth_beyond'

/** An expression with an empty set, or with one of both families, is refused, and with it the rule. */
const addressSet = (key: string, name: string, family: 4 | 6, ranges: readonly string[]): WantedRow => {
  const own = ranges.filter((each) => each.includes(':') === (family === 6))
  return { table: 'Address_Set', key, columns: { name, addresses: own.length > 0 ? [...new Set(own)] : [NO_ADDRESS[family]] } }
}
const NO_ADDRESS = { 4: '255.255.255.255', 6: '::' }

/** Routers are spread over this many orders of the hosts, each of which has another host first. */
const GATEWAY_GROUPS = 8
/** OVN follows at most this many. */
const GATEWAYS_PER_GROUP = 5

/** Above every rule of a customer. */
export const ALWAYS = 32_000

/** Geneve and VXLAN headers have to fit beside it. */
const MTU = '1400'
const LEASE_SECONDS = '3600'
/** How long routers remember a neighbour, and how many packets a second each of them learns from: a guest may claim every address of its
 *  ranges, and each is a row of the southbound database and a flow on every host. */
const NEIGHBOUR_SECONDS = '120'
const LEARNING_RATE = 20
const LEARNING = 'berth-learning'

/** A switch with a port to a physical network. */
const localSwitch = (key: string, uplinkKey: string, network: string): WantedRow[] => [
  { table: 'Logical_Switch', key, columns: { name: `berth-${network}`, other_config: {} } },
  {
    table: 'Logical_Switch_Port',
    key: uplinkKey,
    columns: { name: uplinkPortOf(network), type: 'localnet', addresses: ['unknown'], options: { network_name: network } },
    in: [{ key, column: 'ports' }],
  },
]

/** What all ports share. `gateways` are the chassis that routers reach the outside through. */
export const publicRows = ({ ranges, allowed }: PublicNetworkSpec, gateways: readonly string[]): WantedRow[] => [
  ...localSwitch('switch', 'uplink', PUBLIC_PHYSICAL_NETWORK),
  ...localSwitch('nat-switch', 'nat-uplink', NAT_PHYSICAL_NETWORK),
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
  addressSet('beyond', BEYOND, 4, beyond(ranges)),
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
  // Their host may translate their addresses to its own. Guests have tunnels of their own between each other.
  acl('no-host-ports', 'public', {
    direction: 'OUT',
    priority: ALWAYS + 1,
    match: `${portIn('OUT', PUBLIC_GUESTS)} && ip4.dst == $${BEYOND} && ${TO_HOST_PORTS}`,
    action: 'drop',
  }),
]

/** A set of what is outside, because `!=` to several ranges is many more flows. */
const beyond = (ranges: readonly string[]): string[] =>
  complementOf(ranges.filter((each) => !each.includes(':')).map((range) => parseCidr(range)!)).map(formatCidr)

const TO_HOST_PORTS = `(${Object.entries(HOST_PORTS)
  .map(([protocol, ports]) => `${protocol}.dst == {${ports.join(', ')}}`)
  .join(' || ')})`

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

const gatewaysOf = (networkId: string): string => `gateways-${parseInt(digest(networkId).slice(0, 8), 16) % GATEWAY_GROUPS}`

export interface Acl {
  direction: Direction
  priority: number
  match: string
  action: string
}

/** `container`: the group or switch. */
export const acl = (key: string, container: string, { direction, priority, match, action }: Acl): WantedRow => ({
  table: 'ACL',
  key,
  columns: { direction: pipelineOf(direction), priority, match, action, options: {} },
  in: [{ key: container, column: 'acls' }],
})

type RoutedNetwork = NetworkSpec & { gateway: string }

const routerName = (networkId: string): string => `berth-${networkId}`
const inRouter = { key: 'router', column: 'ports' }

export function networkRows(network: NetworkSpec): WantedRow[] {
  const { networkId, gateway, version = 0 } = network
  const rows: WantedRow[] = [
    {
      table: 'Logical_Switch',
      key: 'switch',
      ids: { version: String(version) },
      columns: { name: routerName(networkId), other_config: {} },
    },
  ]
  if (gateway === null) return rows
  const routed = { ...network, gateway }
  return [
    ...rows,
    ...dhcpRows(routed),
    ...routerRows(routed),
    ...routed.routes.map(routeRow(networkId)),
    ...peerRows(routed),
    ...outsideRows(routed),
  ]
}

function dhcpRows(network: RoutedNetwork): WantedRow[] {
  const { networkId, cidr, gateway, enableDhcp, dns, snat } = network
  if (!enableDhcp) return []
  const announced = announcedRanges(network)
  const options = {
    server_id: gateway,
    server_mac: macOf(`${networkId} dhcp`),
    lease_time: LEASE_SECONDS,
    mtu: MTU,
    ...(snat && { router: gateway }),
    ...(dns.length > 0 && { dns_server: `{${dns.join(', ')}}` }),
    ...(announced.length > 0 && { classless_static_route: `{${announced.map((range) => `${range},${gateway}`).join(', ')}}` }),
  }
  return [
    { table: 'DHCP_Options', key: 'dhcp', columns: { cidr, options } },
    acl('dhcp-request', 'switch', {
      direction: 'OUT',
      priority: ALWAYS,
      match: `${portIn('OUT', GUESTS)} && ip4.dst == {255.255.255.255, ${gateway}} && udp.src == 68 && udp.dst == 67`,
      action: 'allow',
    }),
  ]
}

/** The operator's ranges are closed to what leaves a private network too; answers come in by the other port. */
function routerRows({ networkId, cidr, gateway, routes }: RoutedNetwork): WantedRow[] {
  const name = routerName(networkId)
  const port = `${name}-inside`
  const from = `inport == "${port}"`
  const inside = oneOf('ip4.dst', [cidr, ...destinationsOf(routes)])
  return [
    {
      table: 'Logical_Router',
      key: 'router',
      columns: { name, options: { mac_binding_age_threshold: NEIGHBOUR_SECONDS }, copp: { object: PUBLIC, key: 'learning' } },
    },
    {
      table: 'Logical_Router_Port',
      key: 'inside',
      columns: { name: port, mac: macOf(`${networkId} inside`), networks: [`${gateway}/${parseCidr(cidr)!.prefix}`] },
      in: [inRouter],
    },
    routerPeer('inside-peer', port, { key: 'switch', column: 'ports' }),
    // What the network routes to its own machines stays in it, whoever sends it.
    policy('inside', 1006, `${from} && ${inside}`, 'allow'),
    // A machine that is a next hop may send from what is routed to it. Nothing of that leaves the network.
    policy('foreign', 1005, `${from} && ip4.src != ${cidr}`, 'drop'),
    // Its gateway host gives them its own address.
    policy('host-ports', 1003, `${from} && ${TO_HOST_PORTS}`, 'drop'),
    policy('open', 1002, `${from} && ip4.dst == $${OPEN}`, 'allow'),
    policy('closed', 1001, `${from} && ip4.dst == $${CLOSED}`, 'drop'),
  ]
}

const destinationsOf = (routes: NetworkSpec['routes']): string[] => routes.map(({ destination }) => destination)

const routeRow =
  (networkId: string) =>
  ({ destination, nextHop }: NetworkSpec['routes'][number]): WantedRow =>
    staticRoute(`route-${destination}`, destination, nextHop, `${routerName(networkId)}-inside`)

const peerPort = (networkId: string, peerId: string): string => `${routerName(networkId)}-to-${peerId}`

/** Each network has its own half of the connection: nothing passes without the other. Only what the network itself sends to the peer's range
 *  enters it. */
function peerRows({ networkId, gateway, peers }: RoutedNetwork): WantedRow[] {
  if (peers.length === 0) return []
  const peerRanges = peers.map((peer) => peer.cidr)
  return [
    policy('peers', 1004, `inport == "${routerName(networkId)}-inside" && ${oneOf('ip4.dst', peerRanges)}`, 'allow'),
    ...peers.flatMap((peer): WantedRow[] => {
      const port = peerPort(networkId, peer.networkId)
      return [
        {
          table: 'Logical_Router_Port',
          key: `peer-${peer.networkId}`,
          columns: {
            name: port,
            mac: macOf(`${networkId} to ${peer.networkId}`),
            // Both ends have an address already: the link needs none of its own.
            networks: [`${gateway}/32`],
            peer: peerPort(peer.networkId, networkId),
          },
          in: [inRouter],
        },
        staticRoute(`peer-route-${peer.networkId}`, peer.cidr, peer.gateway, port),
      ]
    }),
  ]
}

const staticRoute = (key: string, destination: string, nextHop: string, port: string): WantedRow => ({
  table: 'Logical_Router_Static_Route',
  key,
  columns: { ip_prefix: destination, nexthop: nextHop, output_port: port },
  in: [{ key: 'router', column: 'static_routes' }],
})

const oneOf = (field: string, ranges: readonly string[]): string => `${field} == {${ranges.join(', ')}}`

/** Multicast and broadcast: routers do not forward them. */
const NOT_FORWARDED = ['224.0.0.0/4', '255.255.255.255']

/** Of QoS rows. A packet meets the meter of the first that matches it, and no other. */
export const LIMIT = 100
/** OVN has no row without a meter, so this is the greatest rate there is, in kbit/s: 4 Tbit/s. Linux multiplies it with milliseconds in 32 bits:
 *  of all great rates only this one leaves nearly as much again for every number of them. */
const UNLIMITED_RATE = 2 ** 32 - 1

/** What stays in the network passes by the limits of all its ports: one row for each direction, however many they are. Its ranges are flows, one
 *  each; what lies outside of scattered ranges would be many times as many. */
function unlimitedRows(networkId: string, inside: readonly string[]): WantedRow[] {
  const set = `berth_unlimited_${networkId}`
  const row = (direction: Direction, far: string): WantedRow => ({
    table: 'QoS',
    key: `unlimited-${direction.toLowerCase()}`,
    columns: {
      direction: pipelineOf(direction),
      priority: LIMIT + 1,
      match: `${far} == $${set}`,
      bandwidth: { rate: UNLIMITED_RATE },
    },
    in: [{ key: 'switch', column: 'qos_rules' }],
  })
  return [addressSet(UNLIMITED_RANGES, set, 4, [...inside, ...NOT_FORWARDED]), row('IN', 'ip4.src'), row('OUT', 'ip4.dst')]
}

function outsideRows({ networkId, cidr, snat, routes, peers }: RoutedNetwork): WantedRow[] {
  if (!snat) return []
  const name = routerName(networkId)
  const port = `${name}-outside`
  const inside = [cidr, ...destinationsOf(routes), ...peers.map((peer) => peer.cidr)]
  return [
    ...unlimitedRows(networkId, inside),
    {
      table: 'Logical_Router_Port',
      key: 'outside',
      columns: {
        name: port,
        mac: macOf(`${networkId} outside`),
        networks: [`${snat.address}/${snat.prefix}`],
        ha_chassis_group: { object: PUBLIC, key: gatewaysOf(networkId) },
      },
      in: [inRouter],
    },
    routerPeer('outside-peer', port, { object: PUBLIC, key: 'nat-switch', column: 'ports' }),
    // Only answers come in. A neighbour in the public network must not use the router as its own: what it sends to an address behind the router
    // is no packet of a translated connection.
    policy('uninvited', 1007, `inport == "${port}" && (!ct.trk || (!ct.rpl && !ct.rel))`, 'drop'),
    // Nothing comes from there in the name of what is inside, which no limit counts: a connection may be older than a route or a peer.
    policy('impostor', 1008, `inport == "${port}" && ${oneOf('ip4.src', inside)}`, 'drop'),
    staticRoute('default', '0.0.0.0/0', snat.gateway, port),
    {
      table: 'NAT',
      key: 'snat',
      columns: { type: 'snat', external_ip: snat.address, logical_ip: cidr },
      in: [{ key: 'router', column: 'nat' }],
    },
  ]
}

const policy = (key: string, priority: number, match: string, action: string): WantedRow => ({
  table: 'Logical_Router_Policy',
  key: `policy-${key}`,
  columns: { priority, match, action },
  in: [{ key: 'router', column: 'policies' }],
})

const routerPeer = (key: string, routerPort: string, place: { object?: string; key: string; column: string }): WantedRow => ({
  table: 'Logical_Switch_Port',
  key,
  columns: { name: `${routerPort}-peer`, type: 'router', addresses: ['router'], options: { 'router-port': routerPort } },
  in: [place],
})

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Locally administered, and the same at every call. */
const macOf = (text: string): string =>
  `0a:${digest(text)
    .slice(0, 10)
    .replace(/..(?=.)/g, '$&:')}`
