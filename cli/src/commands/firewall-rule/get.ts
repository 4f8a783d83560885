import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { RULE_COLUMNS } from '../views.ts'

export const get = verb({
  name: 'get',
  about: 'show a rule, named by its number or id',
  args: '<firewall> <rule>',
  example: 'firewall rule get web 2',
  async run(call, _, firewall: string, rule: string) {
    const id = await call.id('firewall', firewall)
    return record(await call.berth.firewalls.rule(id, await call.id('rule', rule, id)), RULE_COLUMNS)
  },
})
