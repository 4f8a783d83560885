// What a change of rules means for traffic: every combination of protocol, ports and addresses between which the rules could tell a difference is
// tried on the rules before and after.
import { contains, parseRange, type IpRange } from './ip-range.ts'
import { ANY_PORT, hasPorts, portsOf, type Rule } from './rule.ts'

export type Verdict = Rule['action']

/** Addresses are texts of the rules; null is all that no rule names. */
export interface Effect {
  direction: Rule['direction']
  protocol: 'TCP' | 'UDP' | 'ICMP' | 'ICMPV6'
  /** Ports such as `22,80-90`; `any` for all, and for ICMP. */
  port: string
  source: string | null
  destination: string | null
  before: Verdict
  after: Verdict
  /** Whether some of the named addresses fare otherwise, so that this is for all others. */
  isRest: boolean
}

export interface Packet {
  direction: Rule['direction']
  protocol: Effect['protocol']
  port: number | null
  source: string | null
  destination: string | null
}

const PROTOCOLS = ['TCP', 'UDP', 'ICMP', 'ICMPV6'] as const
const DEFAULTS: Record<Rule['direction'], Verdict> = { IN: 'DROP', OUT: 'ACCEPT' }
/** Beyond, a summary would not help anybody. */
const MOST_PACKETS = 60_000
const LAST_PORT = 65_535

/** The first rule that matches decides. */
export function verdictOf(rules: readonly Rule[], packet: Packet): Verdict {
  const rule = rules.find(
    (each) =>
      each.direction === packet.direction &&
      (each.protocol === 'ANY' || each.protocol === packet.protocol) &&
      (!hasPorts(each) || isAmong(each.port, packet.port)) &&
      isWithin(each.sourceIps, packet.source, packet.protocol) &&
      isWithin(each.destIps, packet.destination, packet.protocol),
  )
  return rule?.action ?? DEFAULTS[packet.direction]
}

const isAmong = (text: string, port: number | null): boolean =>
  text === ANY_PORT || (port !== null && (portsOf(text) ?? []).some(([from, to]) => from <= port && port <= to))

function isWithin(ranges: string[], address: string | null, protocol: Effect['protocol']): boolean {
  if (ranges.length === 0) return true
  if (address === null) return ranges.some((text) => coversAll(text, protocol))
  const one = rangeOf(address)
  return one !== undefined && ranges.some((text) => isRangeIn(one, rangeOf(text)))
}

const isRangeIn = (inner: IpRange, outer: IpRange | undefined): boolean =>
  outer !== undefined && contains(outer, inner.family, inner.first) && contains(outer, inner.family, inner.last)

const FAMILIES = { TCP: [4, 6], UDP: [4, 6], ICMP: [4], ICMPV6: [6] } as const

/** `0.0.0.0/0` names no addresses either; of TCP and UDP that is enough for one of the two families. */
const coversAll = (text: string, protocol: Effect['protocol']): boolean =>
  FAMILIES[protocol].some((family) => text === (family === 4 ? '0.0.0.0/0' : '::/0'))

const parsed = new Map<string, IpRange | undefined>()
function rangeOf(text: string): IpRange | undefined {
  if (!parsed.has(text)) parsed.set(text, parseRange(text))
  return parsed.get(text)
}

/** Undefined when there are too many combinations to summarize. */
export function effectsOf(before: readonly Rule[], after: readonly Rule[]): Effect[] | undefined {
  const rules = [...before, ...after]
  const sources = addressesOf(rules, 'sourceIps')
  const destinations = addressesOf(rules, 'destIps')
  const segments = segmentsOf(rules)
  if (2 * (2 * segments.length + 2) * sources.length * destinations.length > MOST_PACKETS) return undefined
  const effects: Effect[] = []
  for (const direction of ['IN', 'OUT'] as const)
    for (const protocol of PROTOCOLS)
      for (const source of sources)
        for (const destination of destinations) {
          if (!isPossible(protocol, source, destination)) continue
          const ranges = hasPorts({ protocol }) ? segments : [null]
          const differing = new Map<string, [number, number][]>()
          for (const range of ranges) {
            const packet = { direction, protocol, port: range?.[0] ?? null, source, destination }
            const change = `${verdictOf(before, packet)} ${verdictOf(after, packet)}`
            differing.set(change, [...(differing.get(change) ?? []), ...(range ? [range] : [])])
          }
          for (const [change, ports] of differing) {
            const [was, is] = change.split(' ') as [Verdict, Verdict]
            if (was !== is)
              effects.push({ direction, protocol, port: portText(ports), source, destination, before: was, after: is, isRest: false })
          }
        }
  return effects.flatMap((each) => {
    const isCovered = effects.some((other) => other !== each && covers(other, each))
    if (isCovered) return []
    const named = sources.filter((source) => each.source === null && source !== null && isPossible(each.protocol, source, each.destination))
    const isRest = named.some((source) => !effects.some((other) => other.source === source && covers(each, other)))
    return [{ ...each, isRest }]
  })
}

/** What is the same for an address as for all others needs no line of its own. */
const covers = (all: Effect, one: Effect): boolean =>
  (all.source === null || all.source === one.source) &&
  (all.destination === null || all.destination === one.destination) &&
  all.direction === one.direction &&
  all.protocol === one.protocol &&
  all.port === one.port &&
  all.before === one.before &&
  all.after === one.after

function addressesOf(rules: readonly Rule[], field: 'sourceIps' | 'destIps'): (string | null)[] {
  const named = new Set(rules.flatMap((rule) => rule[field]).filter((text) => text !== '0.0.0.0/0' && text !== '::/0'))
  return [null, ...named]
}

/** Between the ports at which a rule begins or ends to match. */
function segmentsOf(rules: readonly Rule[]): [number, number][] {
  const starts = new Set([1])
  for (const rule of rules)
    for (const [from, to] of hasPorts(rule) ? (portsOf(rule.port) ?? []) : []) {
      starts.add(from)
      if (to < LAST_PORT) starts.add(to + 1)
    }
  const sorted = [...starts].toSorted((a, b) => a - b)
  return sorted.map((from, index) => [from, (sorted[index + 1] ?? LAST_PORT + 1) - 1])
}

function isPossible(protocol: Effect['protocol'], ...addresses: (string | null)[]): boolean {
  const families = addresses.flatMap((text) => (text === null ? [] : [rangeOf(text)?.family]))
  const allowed: readonly (number | undefined)[] = FAMILIES[protocol]
  return families.every((family) => allowed.includes(family)) && new Set(families).size < 2
}

function portText(ranges: [number, number][]): string {
  const merged: [number, number][] = []
  for (const [from, to] of ranges) {
    const last = merged.at(-1)
    if (last && last[1] + 1 === from) last[1] = to
    else merged.push([from, to])
  }
  if (merged.length === 0 || (merged[0]![0] === 1 && merged[0]![1] === LAST_PORT)) return ANY_PORT
  return merged.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',')
}
