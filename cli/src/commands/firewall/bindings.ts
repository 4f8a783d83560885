import type { FirewallBindingState } from '@berth/sdk'
import { rows, type Columns } from '../../answer.ts'
import { verb } from '../../command.ts'
import { time } from '../../format.ts'

export const BINDING_COLUMNS: Columns<FirewallBindingState> = {
  VM: (each) => each.vmId,
  APPLIED: (each) => each.applied,
  SINCE: (each) => time(each.appliedAt),
  ERROR: (each) => each.error,
}

export const vmOf = ({ vmId }: { vmId?: string }): string => vmId ?? ''

export const bindings = verb({
  name: 'bindings',
  about: 'which VMs a firewall guards, and whether their hosts have its latest rules',
  args: '<firewall>',
  example: 'firewall bindings web',
  run: async (call, _, firewall: string) =>
    rows(
      await call.berth.firewalls.bindings(await call.id('firewall', firewall)),
      BINDING_COLUMNS,
      `It guards no VM yet: berth firewall bind ${firewall} <vm>`,
      vmOf,
    ),
})
