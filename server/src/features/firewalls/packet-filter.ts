// Compiles a VM's firewalls into one packet filter and evaluates packets against it. Pure functions; hosts enforce the same semantics.
import type { Filter, FilterAction, FilterRule } from '../../hypervisor/driver.ts'
import { contains, parseAddress, parseCidr } from '../../kernel/cidr.ts'
import { parsePorts, type RuleFields } from './rule-input.ts'

export const DEFAULTS = { defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' } as const

/** `rules` in evaluation order; null = the VM has no firewall. */
export function compileFilter(rules: RuleFields[] | null): Filter {
  if (rules === null) return { rules: [], defaultInbound: 'ACCEPT', defaultOutbound: 'ACCEPT' }
  return { rules: rules.map(toFilterRule), ...DEFAULTS }
}

const toFilterRule = ({ direction, action, protocol, port, source_ips, dest_ips }: RuleFields): FilterRule => ({
  direction,
  action,
  protocol,
  ports: parsePorts(port),
  sources: source_ips,
  destinations: dest_ips,
})

/** The first packet of a connection; stateful tracking accepts the packets that follow an accepted one. */
export interface Packet {
  direction: 'IN' | 'OUT'
  protocol: 'TCP' | 'UDP' | 'ICMP'
  /** Destination port; null for ICMP. */
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

function matchesAddress(list: string[], text: string | null): boolean {
  if (list.length === 0) return true
  const address = text === null ? null : parseAddress(text)
  return address !== null && list.some((each) => contains(parseCidr(each.includes('/') ? each : `${each}/32`)!, address))
}
