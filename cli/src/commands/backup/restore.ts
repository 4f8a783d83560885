import { verb } from '../../command.ts'
import { changeVm } from '../vm/power.ts'

export const restore = verb<{ withoutNetworks?: true }>({
  name: 'restore',
  about: 'bring a VM back to a backup: what was written since is lost',
  args: '<vm> <backup>',
  options: [['--without-networks', 'when its host is lost, and its private networks with it: bring it back without them']],
  example: 'backup restore web-1 monday',
  waits: true,
  asks: true,
  async run(call, { withoutNetworks = false }, vm: string, backup: string) {
    const id = await call.id('backup', backup, await call.id('vm', vm))
    await call.confirm(`What ${vm} has written since is lost.`, vm)
    return changeVm(call, vm, 'restoring', (berth, vmId) => berth.backups.restore(vmId, id, { withoutNetworks }))
  },
})
