import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { requireSome } from '../../options.ts'
import { RULE_COLUMNS } from '../views.ts'
import { RULE_OPTIONS, ruleOf, type RuleOptions } from './fields.ts'

export const update = verb<RuleOptions>({
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
