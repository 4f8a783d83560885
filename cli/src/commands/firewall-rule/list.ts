import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { RULE_COLUMNS } from '../views.ts'

export const list = verb({
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
