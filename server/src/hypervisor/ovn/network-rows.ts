// A private network as rows: a switch, and a router if the network has a gateway.
import { parseCidr } from '../../kernel/cidr.ts'
import { announcedRanges, type NetworkSpec } from '../network-controller.ts'
import { pipelineOf, portIn, type Direction } from './match.ts'
import type { WantedRow } from './plan.ts'
import { gatewaysOf } from './public-rows.ts'
import { acl, addressSet, ALWAYS, CLOSED, digest, GUESTS, LIMIT, OPEN, PUBLIC, TO_HOST_PORTS, versionIds } from './rows.ts'

/** Of a network with a way out: the key of the ranges that no limit counts. */
export const UNLIMITED_RANGES = 'unlimited-ranges'

/** Geneve and VXLAN headers have to fit beside it. */
const MTU = '1400'
const LEASE_SECONDS = '3600'
/** How long routers remember a neighbour: see the rate that they learn at. */
const NEIGHBOUR_SECONDS = '120'

type RoutedNetwork = NetworkSpec & { gateway: string }

const routerName = (networkId: string): string => `berth-${networkId}`
const inRouter = { key: 'router', column: 'ports' }

export function networkRows(network: NetworkSpec): WantedRow[] {
  const { networkId, gateway, version = 0 } = network
  const rows: WantedRow[] = [
    {
      table: 'Logical_Switch',
      key: 'switch',
      ids: versionIds(version),
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

/** Locally administered, and the same at every call. */
const macOf = (text: string): string =>
  `0a:${digest(text)
    .slice(0, 10)
    .replace(/..(?=.)/g, '$&:')}`
