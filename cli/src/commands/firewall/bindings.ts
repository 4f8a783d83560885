import type { FirewallBindingState } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { time } from '../../format.ts'

export const bindings = verb({
  name: 'bindings',
  about: 'which VMs a firewall guards, and whether their hosts have its latest rules',
  args: '<firewall>',
  example: 'firewall bindings web',
  run: async (call, _, firewall: string) =>
    rows(
      await call.berth.firewalls.bindings(await call.id('firewall', firewall)),
      {
        VM: (each: FirewallBindingState) => each.vmId,
        APPLIED: (each) => each.applied,
        SINCE: (each) => time(each.appliedAt),
        ERROR: (each) => each.error,
      },
      `It guards no VM yet: berth firewall bind ${firewall} <vm>`,
      ({ vmId }: { vmId?: string }) => vmId ?? '',
    ),
})
