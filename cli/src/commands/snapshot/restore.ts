import { verb } from '../../command.ts'
import { changeVm } from '../vm/power.ts'

export const restore = verb({
  name: 'restore',
  about: 'bring a VM back to a snapshot: what was written since is lost',
  args: '<vm> <snapshot>',
  example: 'snapshot restore web-1 before-upgrade',
  waits: true,
  asks: true,
  async run(call, _, vm: string, snapshot: string) {
    const id = await call.id('snapshot', snapshot, await call.id('vm', vm))
    await call.confirm(`What ${vm} has written since is lost.`, vm)
    return changeVm(call, vm, 'restoring', (berth, vmId) => berth.snapshots.restore(vmId, id))
  },
})
