import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
  name: 'delete',
  about: 'delete a rule, named by its number or id',
  args: '<firewall> <rule>',
  example: 'firewall rule delete web 2',
  async run(call, _, firewall: string, rule: string) {
    const id = await call.id('firewall', firewall)
    return said(await call.berth.firewalls.deleteRule(id, await call.id('rule', rule, id)), rule, `Rule ${rule} of ${firewall} is gone`)
  },
})
