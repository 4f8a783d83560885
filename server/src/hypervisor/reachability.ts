// What becomes of a packet, by the specs that a network controller is given. Pure functions; hosts enforce the same semantics.
import { parseIp, parseIpRange, rangeContains } from '../kernel/ip-range.ts'
import { CLOSED_RANGES, HOST_PORTS, type NetworkSpec, type PortSpec, type PublicNetworkSpec } from './network-controller.ts'
import type { Filter, FilterAction, FilterRule } from './spec.ts'

/** The first packet of a connection; stateful tracking accepts the packets that follow an accepted one. */
export interface Packet {
  direction: 'IN' | 'OUT'
  protocol: 'TCP' | 'UDP' | 'ICMP' | 'ICMPV6'
  /** Destination port; null for ICMP and ICMPv6. */
  port: number | null
  /** Null = unknown: it matches only rules without an address condition. */
  source: string | null
  destination: string | null
}

export interface Decision {
  action: FilterAction
  /** The deciding rule; null = the default action applied. */
  ruleIndex: number | null
}

export function evaluatePacket(filter: Filter, packet: Packet): Decision {
  const ruleIndex = filter.rules.findIndex((rule) => matches(rule, packet))
  if (ruleIndex >= 0) return { action: filter.rules[ruleIndex]!.action, ruleIndex }
  return { action: packet.direction === 'IN' ? filter.defaultInbound : filter.defaultOutbound, ruleIndex: null }
}

const matches = (rule: FilterRule, packet: Packet): boolean =>
  rule.direction === packet.direction &&
  (rule.protocol === 'ANY' || rule.protocol === packet.protocol) &&
  matchesPort(rule.ports, packet.port) &&
  matchesAddress(rule.sources, packet.source) &&
  matchesAddress(rule.destinations, packet.destination)

const matchesPort = (ports: FilterRule['ports'], port: number | null): boolean =>
  ports.length === 0 || (port !== null && ports.some(({ from, to }) => from <= port && port <= to))

const matchesAddress = (list: string[], address: string | null): boolean => list.length === 0 || (address !== null && isIn(list, address))

const isIn = (ranges: readonly string[], address: string): boolean =>
  ranges.some((range) => rangeContains(parseIpRange(range)!, parseIp(address)!))

export interface ReachQuestion {
  /** All interfaces of the sender. */
  sender: readonly Interface[]
  /** The private networks of the sender. */
  networks: readonly Pick<NetworkSpec, 'networkId' | 'cidr' | 'gateway' | 'snat' | 'routes' | 'peers'>[]
  publicNetwork: PublicNetworkSpec
  /** All interfaces of the machine that is asked for, or that is the next hop of a route to it; none where there is no known machine. */
  receiver: readonly Interface[]
  destination: string
  protocol: Packet['protocol']
  port: number | null
}

type Interface = Pick<PortSpec, 'networkId' | 'addresses' | 'ranges' | 'filter'>

/** In the order in which a packet meets them. Whatever does not pass is the last one. */
export type Step = { passes: boolean } & (
  | { kind: 'OUTBOUND_FILTER' | 'INBOUND_FILTER'; networkId: string | null; decision: Decision }
  /** GATEWAY: by that of the public network, which routes between its ranges, or not. */
  | { kind: 'ROUTE'; way: Way['kind'] | 'GATEWAY' | 'NONE'; networkId: string | null }
  | { kind: 'CLOSED_RANGE'; closed: 'RANGE' | 'PORT' | null }
  /** Of a private network: its router, or nobody has the address, which is the next hop where a route leads there. */
  | { kind: 'DESTINATION'; owner: 'GATEWAY' | 'NOBODY'; range: string; address: string }
)

export interface Reach {
  /** FORWARDED: it leaves for a destination that is no known machine or for a gateway outside, or arrives at the next hop of a route. */
  verdict: 'REACHABLE' | 'FORWARDED' | 'BLOCKED'
  /** Null without a way. */
  source: { networkId: string | null; address: string } | null
  steps: Step[]
}

/** Whether the first packet of a connection arrives, and what decides. */
export function traceReach(question: ReachQuestion): Reach {
  const { destination, publicNetwork, receiver } = question
  const way = wayTo(question)
  if (!way) return { verdict: 'BLOCKED', source: null, steps: [{ kind: 'ROUTE', way: 'NONE', networkId: null, passes: false }] }
  const source = { networkId: way.from.networkId, address: way.address }
  const steps: Step[] = []
  /** True when the packet ends there. */
  const ends = (step: Step): boolean => steps.push(step) > 0 && !step.passes
  const blocked = (): Reach => ({ verdict: 'BLOCKED', source, steps })

  if (ends(filterStep('OUTBOUND_FILTER', way.from, question, way.address))) return blocked()
  const isBehindGateway = way.kind === 'PUBLIC' && !isOnLink(publicNetwork, way.address, destination)
  steps.push({ kind: 'ROUTE', way: isBehindGateway ? 'GATEWAY' : way.kind, networkId: source.networkId, passes: true })
  const at = way.kind === 'VIA' ? way.nextHop : destination
  const target = receiver.find((each) => each.networkId === way.arrivesIn && hasAddress(each, at))
  if (!('range' in way)) {
    const closed = isClosed(publicNetwork, destination) ? 'RANGE' : isHostPort(question, way.kind) ? 'PORT' : null
    if (ends({ kind: 'CLOSED_RANGE', closed, passes: closed === null })) return blocked()
    if (!target) return { verdict: 'FORWARDED', source, steps }
  } else if (!target) {
    const owner = way.gateway !== null && isSame(way.gateway, at) ? 'GATEWAY' : 'NOBODY'
    // A router answers pings alone.
    const passes = owner === 'GATEWAY' && question.protocol === 'ICMP'
    return ends({ kind: 'DESTINATION', owner, range: way.range, address: at, passes }) ? blocked() : { verdict: 'REACHABLE', source, steps }
  }
  // Outside, the host of the uplink may translate the router's address once more.
  if (ends(filterStep('INBOUND_FILTER', target, question, way.kind === 'SNAT' ? null : way.address))) return blocked()
  const isHandedOn = isBehindGateway || way.kind === 'SNAT' || way.kind === 'VIA'
  return { verdict: isHandedOn ? 'FORWARDED' : 'REACHABLE', source, steps }
}

/** Guests have the whole range of their address on link, and send everything else to its gateway. */
const isOnLink = ({ ranges }: PublicNetworkSpec, one: string, other: string): boolean =>
  ranges.some((range) => isIn([range], one) && isIn([range], other))

type Way = {
  from: Interface
  /** Of the sender. */
  address: string
  /** Of the receiver's interface; null for the public network. */
  arrivesIn: string | null
} & (
  | { kind: 'PUBLIC' | 'SNAT' }
  /** In the network itself, in one that is peered with it, or to a next hop in it. */
  | { kind: 'NETWORK' | 'PEER'; range: string; gateway: string | null }
  | { kind: 'VIA'; range: string; gateway: null; nextHop: string }
)

/** In the order of preference: networks on link and what their routers announce, everything else over the public interface, and without one
 *  over SNAT. */
const WAYS = ['NETWORK', 'PEER', 'VIA', 'PUBLIC', 'SNAT'] as const

/** As guests are configured, and with the routes that DHCP announces, which guests with fixed addresses have to be given. */
function wayTo({ sender, networks, destination }: ReachQuestion): Way | undefined {
  const { family } = parseIp(destination)!
  const ways = sender.flatMap((from): Way[] => {
    const address = from.addresses.find((each) => parseIp(each)!.family === family)
    if (address === undefined) return []
    if (from.networkId === null) return [{ kind: 'PUBLIC', from, address, arrivesIn: null }]
    const network = networks.find((each) => each.networkId === from.networkId)
    if (!network) return []
    const { networkId, cidr, gateway, peers, routes, snat } = network
    if (isIn([cidr], destination)) return [{ kind: 'NETWORK', from, address, arrivesIn: networkId, range: cidr, gateway }]
    if (gateway === null) return []
    const peer = peers.find((each) => isIn([each.cidr], destination))
    if (peer) return [{ kind: 'PEER', from, address, arrivesIn: peer.networkId, range: peer.cidr, gateway: peer.gateway }]
    const route = routes.find((each) => isIn([each.destination], destination))
    if (route) return [{ kind: 'VIA', from, address, arrivesIn: networkId, range: cidr, gateway: null, nextHop: route.nextHop }]
    return snat ? [{ kind: 'SNAT', from, address, arrivesIn: null }] : []
  })
  return WAYS.flatMap((kind) => ways.find((way) => way.kind === kind) ?? [])[0]
}

function filterStep(
  kind: 'OUTBOUND_FILTER' | 'INBOUND_FILTER',
  { filter, networkId }: Interface,
  { protocol, port, destination }: ReachQuestion,
  source: string | null,
): Step {
  const direction = kind === 'INBOUND_FILTER' ? 'IN' : 'OUT'
  const decision: Decision = filter
    ? evaluatePacket(filter, { direction, protocol, port, source, destination })
    : { action: 'ACCEPT', ruleIndex: null }
  return { kind, networkId, decision, passes: decision.action === 'ACCEPT' }
}

/** Whether guests never reach it over the public network. */
const isClosed = ({ ranges, allowed }: PublicNetworkSpec, address: string): boolean =>
  isIn(CLOSED_RANGES, address) && !isIn([...ranges, ...allowed], address)

/** Routers keep guests from ports of hosts everywhere, the public network where no guests of the region are. */
const isHostPort = ({ publicNetwork, destination, protocol, port }: ReachQuestion, way: 'PUBLIC' | 'SNAT'): boolean => {
  const ports: number[] = protocol === 'TCP' ? HOST_PORTS.tcp : protocol === 'UDP' ? HOST_PORTS.udp : []
  const { ranges, withheld = [] } = publicNetwork
  const hasGuests = isIn(ranges, destination) && !isIn(withheld, destination)
  return port !== null && ports.includes(port) && (way === 'SNAT' || !hasGuests)
}

const hasAddress = ({ addresses, ranges }: Interface, address: string): boolean => isIn([...addresses, ...ranges], address)

const isSame = (one: string, other: string): boolean => isIn([one], other)
