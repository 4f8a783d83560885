// Lines that rules expand to. Every host of the region evaluates those of a firewall for every VM that is bound, and works on all lines of a VM
// when one of them changes.
import type { FilterRule } from '../../hypervisor/driver.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { parsePorts, type RuleFields } from './rule-input.ts'
import { listRulesOfVms, listUnconfirmedRules, type RuleRow } from './sql.ts'

const MAX_LINES = 500
/** Of all its firewalls. */
const MAX_LINES_OF_VM = 1_000
const HIGHEST_PORT = 65_535

const ADVICE = 'A range of ports counts as up to 30, all ports or an aligned block such as 8192-8447 as one: use those, or fewer addresses'

type Expanding = Pick<RuleFields, 'port' | 'source_ips' | 'dest_ips'>

export const linesOfAll = (rules: readonly Expanding[]): number => rules.reduce((sum, rule) => sum + linesOf(rule), 0)

/** Of one firewall. */
export function requireFewLines(rules: readonly Expanding[]): void {
  const lines = linesOfAll(rules)
  if (lines > MAX_LINES)
    throw apiError(
      'quota_exceeded',
      `The rules expand to ${lines} combinations of ports, sources and destinations; a firewall can hold ${MAX_LINES}. ${ADVICE}`,
    )
}

/** The caller holds the locks of their ports, which serialize changes of a VM's rules. Rules that may return by themselves keep their room. */
export async function requireFewLinesOfVms(tx: Tx, vmIds: string[]): Promise<void> {
  const rules = Map.groupBy(await listRulesOfVms(tx, vmIds), (row) => row.vm_id)
  const returning = Map.groupBy(await listUnconfirmedRules(tx, vmIds), (row) => row.vm_id)
  for (const [vmId, rows] of rules) {
    const lines = linesByFirewall(rows.filter((rule) => rule.id !== null))
    for (const [firewallId, before] of linesByFirewall(returning.get(vmId) ?? []))
      lines.set(firewallId, Math.max(before, lines.get(firewallId) ?? 0))
    const sum = [...lines.values()].reduce((total, each) => total + each, 0)
    if (sum > MAX_LINES_OF_VM)
      throw apiError(
        'quota_exceeded',
        `The firewalls of VM ${vmId} would expand to ${sum} combinations of ports, sources and destinations together; a VM can have ${MAX_LINES_OF_VM}. ${ADVICE}`,
      )
  }
}

const linesByFirewall = (rules: readonly RuleRow[]): Map<string, number> =>
  new Map([...Map.groupBy(rules, (rule) => rule.firewall_id)].map(([id, own]) => [id, linesOfAll(own)]))

/** Number of filter lines that the rule expands to: a host needs one per combination of masked ports, source and destination. */
export function linesOf({ port, source_ips, dest_ips }: Expanding): number {
  const ports = parsePorts(port).reduce((sum, range) => sum + masksOf(range), 0)
  return [ports, source_ips.length, dest_ips.length].reduce((product, count) => product * Math.max(1, count), 1)
}

/** Flows match a value under a mask, so OVN splits a range into aligned blocks of powers of two: at most 30. */
function masksOf({ from, to }: FilterRule['ports'][number]): number {
  if (from <= 1 && to === HIGHEST_PORT) return 1
  let count = 0
  for (let start = from; start <= to; count++) {
    let size = start === 0 ? HIGHEST_PORT + 1 : start & -start
    while (start + size - 1 > to) size /= 2
    start += size
  }
  return count
}
