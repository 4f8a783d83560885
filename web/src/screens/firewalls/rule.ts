// A rule of a firewall as it is edited: applied ones keep their id, new ones have a key of their own.
import type { FirewallRule, RuleInput } from '@berth/sdk'
import { firewallMessages as w } from '../../words/words.ts'
import { parseRange } from './ip-range.ts'

export interface Rule {
  key: string
  direction: RuleInput['direction']
  action: RuleInput['action']
  protocol: RuleInput['protocol']
  /** 'any', or ports such as '22', '80,443' or '8000-9000'. */
  port: string
  sourceIps: string[]
  destIps: string[]
  description: string
}

export const ANY_PORT = 'any'

export const fromApi = ({ id, port, sourceIps, destIps, description, ...rule }: FirewallRule): Rule => ({
  key: id,
  direction: rule.direction as Rule['direction'],
  action: rule.action as Rule['action'],
  protocol: rule.protocol as Rule['protocol'],
  port,
  sourceIps,
  destIps,
  description,
})

export const toApi = ({ key: _, port, ...rule }: Rule): RuleInput => ({ ...rule, port: port === ANY_PORT ? null : port })

export const newKey = (): string => `new-${crypto.randomUUID()}`

export const hasPorts = ({ protocol }: Pick<Rule, 'protocol'>): boolean => protocol === 'TCP' || protocol === 'UDP'

/** Whether two rules say the same, apart from what they are called. */
export const isSameMatch = (a: Omit<Rule, 'key' | 'description'>, b: Omit<Rule, 'key' | 'description'>): boolean =>
  a.direction === b.direction &&
  a.action === b.action &&
  a.protocol === b.protocol &&
  a.port === b.port &&
  String(a.sourceIps) === String(b.sourceIps) &&
  String(a.destIps) === String(b.destIps)

export const isSameRule = (a: Rule, b: Rule): boolean => isSameMatch(a, b) && a.description === b.description

/** `TCP 22`, `ICMP`, `any protocol`. */
export function whatOf({ protocol, port }: Pick<Rule, 'protocol' | 'port'>): string {
  if (protocol === 'ANY') return w.anyProtocol
  if (!hasPorts({ protocol })) return protocol
  return `${protocol} ${port === ANY_PORT ? w.allPorts : port}`
}

/** `From 10.0.0.0/8`. */
export function whoOf({ direction, sourceIps, destIps }: Pick<Rule, 'direction' | 'sourceIps' | 'destIps'>): string {
  const from = sourceIps.join(', ')
  const to = destIps.join(', ')
  const parts = [from && `${w.from} ${from}`, to && `${w.to} ${to}`].filter(Boolean)
  return parts.join(' · ') || `${direction === 'IN' ? w.from : w.to} ${w.anyone}`
}

export const sentenceOf = (rule: Rule): string =>
  [
    `${w.actions[rule.action] ?? rule.action} · ${w.directions[rule.direction] ?? rule.direction} · ${whatOf(rule)}`,
    whoOf(rule),
    rule.description,
  ]
    .filter(Boolean)
    .join(' · ')

const HIGHEST_PORT = 65_535

/** Of a text such as `80,8000-9000`; all ports for `any`. Undefined when it is not one. */
export function portsOf(text: string): [number, number][] | undefined {
  if (text === ANY_PORT) return [[1, HIGHEST_PORT]]
  const ranges: [number, number][] = []
  for (const part of text.split(',')) {
    if (!/^\d{1,5}(-\d{1,5})?$/.test(part)) return undefined
    const [from = 0, to = from] = part.split('-').map(Number)
    if (from < 1 || to > HIGHEST_PORT || from > to) return undefined
    ranges.push([from, to])
  }
  return ranges
}

/** The index of the first text that is neither an address nor a range; -1 when all are. */
export const wrongAddress = (texts: string[]): number => texts.findIndex((text) => parseRange(text) === undefined)
