// A rule in words of the command line.
import type { RuleInput } from '@berth/sdk'
import { given, whole, words } from '../../options.ts'

export interface RuleOptions {
  direction?: string
  action?: string
  protocol?: string
  port?: string
  from?: string[]
  to?: string[]
  description?: string
  position?: string
}

export const RULE_OPTIONS: [string, string][] = [
  ['--direction <direction>', 'in or out'],
  ['--action <action>', 'accept, drop or reject'],
  ['--protocol <protocol>', 'tcp, udp, icmp, icmpv6 or any'],
  ['--port <ports>', 'destination ports: 22, 80,443, 8000-9000 or any'],
  ['--from <range...>', 'only from these addresses'],
  ['--to <range...>', 'only to these addresses'],
  ['--description <text>', 'what it is for'],
  ['--position <number>', 'where it stands, from 1'],
]

export const ruleOf = ({ direction, action, protocol, port, from, to, description, position }: RuleOptions) =>
  given({
    direction: direction?.toUpperCase() as RuleInput['direction'] | undefined,
    action: action?.toUpperCase() as RuleInput['action'] | undefined,
    protocol: protocol?.toUpperCase() as RuleInput['protocol'] | undefined,
    port,
    sourceIps: words(from),
    destIps: words(to),
    description,
    position: position === undefined ? undefined : whole('--position', position),
  })
