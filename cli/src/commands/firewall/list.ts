import type { Firewall } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'

export const list = verb({
  name: 'list',
  about: 'list your firewalls',
  example: 'firewall list',
  run: async ({ berth }) =>
    rows(
      await berth.firewalls.list().all(),
      {
        NAME: (each: Firewall) => each.name,
        INBOUND: (each) => each.defaultInbound,
        OUTBOUND: (each) => each.defaultOutbound,
        RULES: (each) => each.ruleCount,
        VMS: (each) => each.bindingCount,
        APPLIED: (each) => each.applied,
        DESCRIPTION: (each) => each.description,
      },
      'There is no firewall yet: berth firewall create --help',
    ),
})
