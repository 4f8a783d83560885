import { verb } from '../../command.ts'
import { changeVm } from '../vm/power.ts'

export const restore = verb({
  name: 'restore',
  about: 'bring a VM back to a backup: what was written since is lost',
  args: '<vm> <backup>',
  example: 'backup restore web-1 monday',
  waits: true,
  asks: true,
  async run(call, _, vm: string, backup: string) {
    const id = await call.id('backup', backup, await call.id('vm', vm))
    await call.confirm(`What ${vm} has written since is lost.`, vm)
    return changeVm(call, vm, 'restoring', (berth, vmId) => berth.backups.restore(vmId, id))
  },
})
