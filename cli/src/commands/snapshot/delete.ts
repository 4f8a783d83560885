import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
  name: 'delete',
  about: 'delete a snapshot; the VM is not touched',
  args: '<vm> <snapshot>',
  example: 'snapshot delete web-1 before-upgrade',
  waits: true,
  asks: true,
  async run(call, _, vm: string, snapshot: string) {
    const vmId = await call.id('vm', vm)
    const id = await call.id('snapshot', snapshot, vmId)
    await call.confirm(`Snapshot ${snapshot} of ${vm} will be gone.`, snapshot)
    const started = await call.berth.snapshots.delete(vmId, id)
    return call.finish(started, `deleting ${snapshot}`, (action) => said(action, snapshot, `Snapshot ${snapshot} is gone`))
  },
})
