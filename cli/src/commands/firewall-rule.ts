import type { Body, FirewallRule, RuleInput } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { usageError } from '../exit-codes.ts'
import { omitUndefined, parseInteger, parseJson, requireChanges, splitList } from '../options.ts'
import { details, message, table, type Columns } from '../result.ts'

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
  ['--from <range...>', 'source IP ranges'],
  ['--to <range...>', 'destination IP ranges'],
  ['--description <text>', 'description'],
  ['--position <number>', 'position in the list, starting at 1'],
]

const toRuleInput = ({ direction, action, protocol, port, from, to, description, position }: RuleOptions) =>
  omitUndefined({
    direction: direction?.toUpperCase() as RuleInput['direction'] | undefined,
    action: action?.toUpperCase() as RuleInput['action'] | undefined,
    protocol: protocol?.toUpperCase() as RuleInput['protocol'] | undefined,
    port,
    sourceIps: splitList(from),
    destIps: splitList(to),
    description,
    position: position === undefined ? undefined : parseInteger('--position', position),
  })

export const BASED_ON: [string, string] = ['--based-on <version>', 'refuse when the rules have another version (firewall get shows it)']

const list = defineCommand({
  name: 'list',
  description: 'list the rules of a firewall',
  args: '<firewall>',
  example: 'firewall rule list web',
  run: async (ctx, _, firewall: string) =>
    table(
      await ctx.berth.firewalls.rules(await ctx.resolveId('firewall', firewall)),
      RULE_COLUMNS,
      `No rules: all inbound traffic is dropped. Add one: berth firewall rule add ${firewall} --port 22`,
    ),
})

const get = defineCommand({
  name: 'get',
  description: 'show a rule by position or id',
  args: '<firewall> <rule>',
  example: 'firewall rule get web 2',
  async run(ctx, _, firewall: string, rule: string) {
    const id = await ctx.resolveId('firewall', firewall)
    return details(await ctx.berth.firewalls.rule(id, await ctx.resolveId('rule', rule, id)), RULE_COLUMNS)
  },
})

const ACCEPT_TCP_IN = { direction: 'IN', action: 'ACCEPT', protocol: 'TCP' } as const

const add = defineCommand<RuleOptions>({
  name: 'add',
  description: 'add a rule; default: accept inbound TCP',
  args: '<firewall>',
  options: RULE_OPTIONS,
  example: 'firewall rule add web --port 80,443 --from 0.0.0.0/0',
  run: async (ctx, options, firewall: string) =>
    details(
      await ctx.berth.firewalls.addRule(await ctx.resolveId('firewall', firewall), { ...ACCEPT_TCP_IN, ...toRuleInput(options) }),
      RULE_COLUMNS,
    ),
})

const update = defineCommand<RuleOptions>({
  name: 'update',
  description: 'change or move a rule, by position or id',
  args: '<firewall> <rule>',
  options: RULE_OPTIONS,
  example: 'firewall rule update web 2 --port 8080 --position 1',
  async run(ctx, options, firewall: string, rule: string) {
    const body = requireChanges(toRuleInput(options), '--port, --from, --position …')
    const id = await ctx.resolveId('firewall', firewall)
    return details(await ctx.berth.firewalls.updateRule(id, await ctx.resolveId('rule', rule, id), body), RULE_COLUMNS)
  },
})

type Rules = Body<'replaceFirewallRules'>['rules']

const replace = defineCommand<{ rules?: string; basedOn?: string; confirmWithin?: string }>({
  name: 'replace',
  description: 'replace all rules atomically',
  args: '<firewall>',
  options: [
    ['--rules <json>', 'an array of rules, @file, or - for stdin (required)'],
    BASED_ON,
    ['--confirm-within <seconds>', 'undo them by themselves unless firewall confirm follows'],
  ],
  example: 'firewall rule replace web --rules @rules.json --confirm-within 120',
  confirms: true,
  async run(ctx, { rules, basedOn, confirmWithin }, firewall: string) {
    if (rules === undefined) throw usageError('--rules is required, such as --rules @rules.json')
    const wanted = parseJson('--rules', rules) as Rules
    const id = await ctx.resolveId('firewall', firewall)
    const seconds = confirmWithin === undefined ? undefined : parseInteger('--confirm-within', confirmWithin)
    await ctx.confirm(`The current rules of ${firewall} will be replaced; firewall undo restores them within ten minutes.`, firewall)
    return table(
      await ctx.berth.firewalls.replaceRules(id, wanted, omitUndefined({ basedOn, confirmWithinSeconds: seconds })),
      RULE_COLUMNS,
      'No rules left',
    )
  },
})

const sentenceOf = ({ direction, action, protocol, port, sourceIps, destIps }: FirewallRule): string => {
  const ports = protocol === 'TCP' || protocol === 'UDP' ? ` port ${port}` : ''
  return `${action} ${direction} ${protocol}${ports} from ${sourceIps.join(', ') || 'any'} to ${destIps.join(', ') || 'any'}`
}

const remove = defineCommand({
  name: 'delete',
  description: 'delete a rule by position or id',
  args: '<firewall> <rule>',
  example: 'firewall rule delete web 2',
  confirms: true,
  async run(ctx, _, firewall: string, rule: string) {
    const id = await ctx.resolveId('firewall', firewall)
    const ruleId = await ctx.resolveId('rule', rule, id)
    const what = sentenceOf(await ctx.berth.firewalls.rule(id, ruleId))
    await ctx.confirm(`Rule ${rule} of ${firewall} will be deleted: ${what}. firewall undo restores it within ten minutes.`, rule)
    return message(await ctx.berth.firewalls.deleteRule(id, ruleId), rule, `Rule ${rule} of ${firewall} deleted`)
  },
})

export const rule = group('rule', 'rules of a firewall; first match wins', [list, get, add, update, replace, remove])

export const undo = defineCommand<{ basedOn?: string; dryRun?: true }>({
  name: 'undo',
  description: 'restore the rules before their latest change, within ten minutes of it',
  args: '<firewall>',
  options: [BASED_ON, ['--dry-run', 'show the rules that would be restored without changing anything']],
  example: 'firewall undo web --dry-run',
  async run(ctx, { basedOn, dryRun }, firewall: string) {
    const id = await ctx.resolveId('firewall', firewall)
    if (dryRun) return table((await ctx.berth.firewalls.undoPreview(id)).rules, RULE_COLUMNS, 'There would be no rules, as before')
    return table(await ctx.berth.firewalls.undo(id, omitUndefined({ basedOn })), RULE_COLUMNS, 'No rules, as before')
  },
})
