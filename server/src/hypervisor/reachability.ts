// What becomes of a packet, by the specs that a network controller is given. Pure functions; hosts enforce the same semantics.
import { parseIp, parseIpRange, rangeContains } from '../kernel/ip-range.ts'
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
