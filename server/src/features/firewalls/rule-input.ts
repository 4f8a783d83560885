// Validates one rule of a request and normalizes it to its stored form.
import type { FilterRule } from '../../hypervisor/driver.ts'
import { invalid } from '../../kernel/errors.ts'
import { formatIpRange, parseIpRange } from '../../kernel/ip-range.ts'
import type { RuleInput } from './schema.ts'

export interface RuleFields {
  direction: 'IN' | 'OUT'
  action: 'ACCEPT' | 'DROP' | 'REJECT'
  protocol: 'TCP' | 'UDP' | 'ICMP' | 'ICMPV6' | 'ANY'
  /** Null: all ports. */
  port: string | null
  source_ips: string[]
  dest_ips: string[]
  description: string
}

export const ANY_PORT = 'any'
const MAX_PORTS = 15

/** `where` is the path of the rule in the request, such as `rules.3.`. */
export function checkedRule(input: RuleInput, where = ''): RuleFields {
  const { direction, action, protocol, sourceIps = [], destIps = [], description = '' } = input
  const port = input.port === ANY_PORT ? null : (input.port ?? null)
  if (port !== null && protocol !== 'TCP' && protocol !== 'UDP')
    throw invalid(`${where}port can be given only with TCP or UDP: leave it out, or set it to null, for ${protocol}`, `${where}port`)
  const problem = port === null ? null : portProblem(port)
  if (problem) throw invalid(`${where}port ${problem}`, `${where}port`)
  const [source_ips, dest_ips] = [ranges(sourceIps, `${where}sourceIps`), ranges(destIps, `${where}destIps`)]
  return { direction, action, protocol, port, source_ips, dest_ips, description }
}

function portProblem(text: string): string | null {
  const ranges = parsePorts(text)
  if (ranges.length > MAX_PORTS) return `may list at most ${MAX_PORTS} ports and ranges: use ranges, or a second rule`
  const backwards = ranges.find(({ from, to }) => from > to)
  return backwards ? `has the range ${backwards.from}-${backwards.to}, which ends before it starts` : null
}

/** Expects text validated by the schema; null = all ports, which is an empty list of ranges. */
export function parsePorts(text: string | null): FilterRule['ports'] {
  if (text === null) return []
  return text.split(',').map((part) => {
    const [from, to = from] = part.split('-').map(Number)
    return { from: from!, to: to! }
  })
}

/** Masked, because OVN refuses an expression with host bits, and with it the rule. */
const ranges = (texts: string[], field: string): string[] =>
  texts.map((text) => {
    const range = parseIpRange(text)
    if (!range) throw invalid(`${field} has ${text}, which is neither an address nor a range`, field)
    const canonical = formatIpRange(range)
    return text.includes('/') && !canonical.includes('/') ? `${canonical}/${range.prefix}` : canonical
  })
