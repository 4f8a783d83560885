import type { Body } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { wrongUsage } from '../../failure.ts'
import { json } from '../../options.ts'
import { RULE_COLUMNS } from '../views.ts'

type Rules = Body<'replaceFirewallRules'>['rules']

export const replace = verb<{ rules?: string }>({
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
