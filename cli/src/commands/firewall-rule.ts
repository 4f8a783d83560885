import type { Body, FirewallRule, RuleInput } from '@berth/sdk'
import { record, rows, said, type Columns } from '../answer.ts'
import { group, verb } from '../command.ts'
import { wrongUsage } from '../failure.ts'
import { given, json, requireSome, whole, words } from '../options.ts'

const RULE_COLUMNS: Columns<FirewallRule> = {
  '#': (rule) => rule.position,
  DIRECTION: (rule) => rule.direction,
  ACTION: (rule) => rule.action,
  PROTOCOL: (rule) => rule.protocol,
  PORT: (rule) => rule.port,
  FROM: (rule) => rule.sourceIps.join(', ') || 'any',
  TO: (rule) => rule.destIps.join(', ') || 'any',
  DESCRIPTION: (rule) => rule.description,
  ID: (rule) => rule.id,
}

// A rule in words of the command line.
interface RuleOptions {
  direction?: string
  action?: string
  protocol?: string
  port?: string
  from?: string[]
  to?: string[]
  description?: string
  position?: string
}

const RULE_OPTIONS: [string, string][] = [
  ['--direction <direction>', 'in or out'],
  ['--action <action>', 'accept, drop or reject'],
  ['--protocol <protocol>', 'tcp, udp, icmp, icmpv6 or any'],
  ['--port <ports>', 'destination ports: 22, 80,443, 8000-9000 or any'],
  ['--from <range...>', 'only from these addresses'],
  ['--to <range...>', 'only to these addresses'],
  ['--description <text>', 'what it is for'],
  ['--position <number>', 'where it stands, from 1'],
]

const ruleOf = ({ direction, action, protocol, port, from, to, description, position }: RuleOptions) =>
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

const list = verb({
  name: 'list',
  about: 'list the rules of a firewall',
  args: '<firewall>',
  example: 'firewall rule list web',
  run: async (call, _, firewall: string) =>
    rows(
      await call.berth.firewalls.rules(await call.id('firewall', firewall)),
      RULE_COLUMNS,
      `It lets nothing in: berth firewall rule add ${firewall} --port 22`,
    ),
})

const get = verb({
  name: 'get',
  about: 'show a rule, named by its number or id',
  args: '<firewall> <rule>',
  example: 'firewall rule get web 2',
  async run(call, _, firewall: string, rule: string) {
    const id = await call.id('firewall', firewall)
    return record(await call.berth.firewalls.rule(id, await call.id('rule', rule, id)), RULE_COLUMNS)
  },
})

const LET_IN = { direction: 'IN', action: 'ACCEPT', protocol: 'TCP' } as const

const add = verb<RuleOptions>({
  name: 'add',
  about: 'add a rule; unless told otherwise, it lets TCP in',
  args: '<firewall>',
  options: RULE_OPTIONS,
  example: 'firewall rule add web --port 80,443 --from 0.0.0.0/0',
  run: async (call, options, firewall: string) =>
    record(await call.berth.firewalls.addRule(await call.id('firewall', firewall), { ...LET_IN, ...ruleOf(options) }), RULE_COLUMNS),
})

const update = verb<RuleOptions>({
  name: 'update',
  about: 'change or move a rule, named by its number or id',
  args: '<firewall> <rule>',
  options: RULE_OPTIONS,
  example: 'firewall rule update web 2 --port 8080 --position 1',
  async run(call, options, firewall: string, rule: string) {
    const body = requireSome(ruleOf(options), '--port, --from, --position …')
    const id = await call.id('firewall', firewall)
    return record(await call.berth.firewalls.updateRule(id, await call.id('rule', rule, id), body), RULE_COLUMNS)
  },
})

type Rules = Body<'replaceFirewallRules'>['rules']

const replace = verb<{ rules?: string }>({
  name: 'replace',
  about: 'replace all rules at once: no packet ever meets half of them',
  args: '<firewall>',
  options: [['--rules <json>', 'an array of rules, @file, or - for stdin (required)']],
  example: 'firewall rule replace web --rules @rules.json',
  asks: true,
  async run(call, { rules }, firewall: string) {
    if (rules === undefined) throw wrongUsage('Say which rules: --rules @rules.json')
    const wanted = json('--rules', rules) as Rules
    const id = await call.id('firewall', firewall)
    await call.confirm(`The rules that ${firewall} has now will be gone.`, firewall)
    return rows(await call.berth.firewalls.replaceRules(id, wanted), RULE_COLUMNS, 'It has no rules now')
  },
})

const remove = verb({
  name: 'delete',
  about: 'delete a rule, named by its number or id',
  args: '<firewall> <rule>',
  example: 'firewall rule delete web 2',
  asks: true,
  async run(call, _, firewall: string, rule: string) {
    const id = await call.id('firewall', firewall)
    const ruleId = await call.id('rule', rule, id)
    await call.confirm(`Rule ${rule} of ${firewall} will be gone.`, rule)
    return said(await call.berth.firewalls.deleteRule(id, ruleId), rule, `Rule ${rule} of ${firewall} is gone`)
  },
})

export const rule = group('rule', 'the rules of a firewall, tried in their order', [list, get, add, update, replace, remove])
