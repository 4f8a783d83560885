import type { Snapshot } from '@berth/sdk'
import { record, rows, said, type Columns } from '../answer.ts'
import { group, verb } from '../command.ts'
import { bytes, time } from '../format.ts'
import { given } from '../options.ts'

const SNAPSHOT_FIELDS: Columns<Snapshot> = {
  Name: (snapshot) => snapshot.name,
  Id: (snapshot) => snapshot.id,
  Status: (snapshot) => snapshot.status,
  Size: (snapshot) => bytes(snapshot.size),
  Description: (snapshot) => snapshot.description,
  Created: (snapshot) => time(snapshot.createdAt),
}

const list = verb({
  name: 'list',
  about: 'list the snapshots of a VM',
  args: '<vm>',
  example: 'snapshot list web-1',
  run: async (call, _, vm: string) =>
    rows(
      await call.berth.snapshots.list(await call.id('vm', vm)).all(),
      {
        NAME: (each: Snapshot) => each.name,
        STATUS: (each) => each.status,
        SIZE: (each) => bytes(each.size),
        CREATED: (each) => time(each.createdAt),
        ID: (each) => each.id,
      },
      `There is no snapshot yet: berth snapshot create ${vm} <name>`,
    ),
})

const get = verb({
  name: 'get',
  about: 'show a snapshot',
  args: '<vm> <snapshot>',
  example: 'snapshot get web-1 before-upgrade',
  async run(call, _, vm: string, snapshot: string) {
    const vmId = await call.id('vm', vm)
    return record(await call.berth.snapshots.get(vmId, await call.id('snapshot', snapshot, vmId)), SNAPSHOT_FIELDS)
  },
})

const create = verb<{ description?: string }>({
  name: 'create',
  about: 'keep the state of a disk',
  args: '<vm> <name>',
  options: [['--description <text>', 'what it is for']],
  example: 'snapshot create web-1 before-upgrade',
  waits: true,
  async run(call, { description }, vm: string, name: string) {
    const started = await call.berth.snapshots.create(await call.id('vm', vm), { name, ...given({ description }) })
    const again = () => call.berth.snapshots.get(started.vmId, started.snapshot.id)
    return call.finish(started, `snapshot ${name}`, async () => record(await again(), SNAPSHOT_FIELDS))
  },
})

const restore = verb({
  name: 'restore',
  about: 'bring a VM back to a snapshot: what was written since is lost',
  args: '<vm> <snapshot>',
  example: 'snapshot restore web-1 before-upgrade',
  waits: true,
  asks: true,
  async run(call, _, vm: string, snapshot: string) {
    const id = await call.id('snapshot', snapshot, await call.id('vm', vm))
    await call.confirm(`What ${vm} has written since is lost.`, vm)
    return call.changeVm(vm, 'restoring', (berth, vmId) => berth.snapshots.restore(vmId, id))
  },
})

const remove = verb({
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

export const snapshot = group('snapshot', 'states of a disk to come back to', [list, get, create, restore, remove])
