import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { RULE_COLUMNS } from '../views.ts'
import { RULE_OPTIONS, ruleOf, type RuleOptions } from './fields.ts'

const LET_IN = { direction: 'IN', action: 'ACCEPT', protocol: 'TCP' } as const

export const add = verb<RuleOptions>({
  name: 'add',
  about: 'add a rule; unless told otherwise, it lets TCP in',
  args: '<firewall>',
  options: RULE_OPTIONS,
  example: 'firewall rule add web --port 80,443 --from 0.0.0.0/0',
  run: async (call, options, firewall: string) =>
    record(await call.berth.firewalls.addRule(await call.id('firewall', firewall), { ...LET_IN, ...ruleOf(options) }), RULE_COLUMNS),
})
