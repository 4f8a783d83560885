// Rules of a packet filter as OVN's match expressions (ovn-sb(5), "Expressions").
import type { FilterAction, FilterRule } from '../spec.ts'

export type Direction = 'IN' | 'OUT'

/** `to-lport` is towards the guest. */
export const pipelineOf = (direction: Direction): string => (direction === 'IN' ? 'to-lport' : 'from-lport')

/** The guest's end in that pipeline. */
export const portIn = (direction: Direction, group: string): string => `${direction === 'IN' ? 'outport' : 'inport'} == @${group}`

export const ACTIONS: Record<FilterAction, string> = { ACCEPT: 'allow-related', DROP: 'drop', REJECT: 'reject' }

/** Null for a rule that matches nothing, such as one with ICMPv6 and only IPv4 addresses. */
export function matchOf(rule: FilterRule): string | null {
  const families = (['ip4', 'ip6'] as const).flatMap((family) => {
    const parts = [
      protocolIn(family, rule),
      addresses(`${family}.src`, family, rule.sources),
      addresses(`${family}.dst`, family, rule.destinations),
    ]
    return parts.includes(null) ? [] : [parts.filter((part) => part !== '').join(' && ')]
  })
  if (families.length === 0) return null
  return families.length === 1 ? families[0]! : families.map((each) => `(${each})`).join(' || ')
}

function protocolIn(family: 'ip4' | 'ip6', { protocol, ports }: FilterRule): string | null {
  if (protocol === 'ICMP') return family === 'ip4' ? 'icmp4' : null
  if (protocol === 'ICMPV6') return family === 'ip6' ? 'icmp6' : null
  if (protocol !== 'ANY') return `${family} && ${transport(protocol.toLowerCase(), ports)}`
  return ports.length === 0 ? family : `${family} && (${['tcp', 'udp'].map((each) => transport(each, ports)).join(' || ')})`
}

function transport(protocol: string, ports: FilterRule['ports']): string {
  if (ports.length === 0) return protocol
  const field = `${protocol}.dst`
  const ranges = ports.map(({ from, to }) => (from === to ? `${field} == ${from}` : `${from} <= ${field} <= ${to}`))
  return ranges.length === 1 ? ranges[0]! : `(${ranges.join(' || ')})`
}

/** Empty for any address, null where none is of this family. */
function addresses(field: string, family: 'ip4' | 'ip6', list: readonly string[]): string | null {
  if (list.length === 0) return ''
  const own = list.filter((each) => each.includes(':') === (family === 'ip6'))
  if (own.length === 0) return null
  return own.some((each) => each.endsWith('/0')) ? '' : `${field} == {${own.toSorted().join(', ')}}`
}

/**
 * The same filter with fewer rules. Those of one direction and action that follow each other need no order among themselves, and those of them that
 * differ in their ports alone are one: a chassis then has a flow for each port and one for each guest, and not one for each pair.
 */
export const merged = (rules: readonly FilterRule[]): FilterRule[] =>
  (['IN', 'OUT'] as const).flatMap((direction) => mergePorts(rules.filter((rule) => rule.direction === direction)))

function mergePorts(rules: readonly FilterRule[]): FilterRule[] {
  const result: FilterRule[] = []
  const open = new Map<string, FilterRule>()
  for (const rule of rules) {
    if (rule.action !== result.at(-1)?.action) open.clear()
    const others = JSON.stringify([rule.protocol, rule.sources, rule.destinations])
    const same = open.get(others)
    if (same) same.ports = same.ports.length > 0 && rule.ports.length > 0 ? [...same.ports, ...rule.ports] : []
    else open.set(others, { ...rule })
    if (!same) result.push(open.get(others)!)
  }
  return result
}
