// Compiles a VM's firewalls into one packet filter.
import type { Filter, FilterRule } from '../../hypervisor/driver.ts'
import { parsePorts, type RuleFields } from './rule-input.ts'

export const DEFAULTS = { defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' } as const

/** `rules` in evaluation order; null = no firewall. */
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
