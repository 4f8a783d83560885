import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { SNAPSHOT_FIELDS } from '../views.ts'

export const get = verb({
  name: 'get',
  about: 'show a snapshot',
  args: '<vm> <snapshot>',
  example: 'snapshot get web-1 before-upgrade',
  async run(call, _, vm: string, snapshot: string) {
    const vmId = await call.id('vm', vm)
    return record(await call.berth.snapshots.get(vmId, await call.id('snapshot', snapshot, vmId)), SNAPSHOT_FIELDS)
  },
})
