import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
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
