import type { Backup } from '@berth/sdk'
import { record, rows, said, type Columns } from '../answer.ts'
import { group, verb } from '../command.ts'
import { bytes, time } from '../format.ts'

const BACKUP_FIELDS: Columns<Backup> = {
  Name: (backup) => backup.name,
  Id: (backup) => backup.id,
  Type: (backup) => backup.type,
  Status: (backup) => backup.status,
  Size: (backup) => bytes(backup.size),
  Expires: (backup) => time(backup.expiresAt),
  Error: (backup) => backup.error,
  Created: (backup) => time(backup.createdAt),
}

const list = verb({
  name: 'list',
  about: 'list the backups of a VM',
  args: '<vm>',
  example: 'backup list web-1',
  run: async (call, _, vm: string) =>
    rows(
      await call.berth.backups.list(await call.id('vm', vm)).all(),
      {
        NAME: (each: Backup) => each.name,
        TYPE: (each) => each.type,
        STATUS: (each) => each.status,
        SIZE: (each) => bytes(each.size),
        CREATED: (each) => time(each.createdAt),
        EXPIRES: (each) => time(each.expiresAt),
        ID: (each) => each.id,
      },
      `There is no backup yet: berth backup create ${vm} <name>`,
    ),
})

const get = verb({
  name: 'get',
  about: 'show a backup',
  args: '<vm> <backup>',
  example: 'backup get web-1 monday',
  async run(call, _, vm: string, backup: string) {
    const vmId = await call.id('vm', vm)
    return record(await call.berth.backups.get(vmId, await call.id('backup', backup, vmId)), BACKUP_FIELDS)
  },
})

const create = verb({
  name: 'create',
  about: 'back a VM up now',
  args: '<vm> <name>',
  example: 'backup create web-1 monday',
  waits: true,
  async run(call, _, vm: string, name: string) {
    const started = await call.berth.backups.create(await call.id('vm', vm), { name })
    const again = () => call.berth.backups.get(started.vmId, started.backup.id)
    return call.finish(started, `backup ${name}`, async () => record(await again(), BACKUP_FIELDS))
  },
})

const restore = verb<{ withoutNetworks?: true }>({
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
    return call.changeVm(vm, 'restoring', (berth, vmId) => berth.backups.restore(vmId, id, { withoutNetworks }))
  },
})

const remove = verb({
  name: 'delete',
  about: 'delete a backup',
  args: '<vm> <backup>',
  example: 'backup delete web-1 monday',
  asks: true,
  async run(call, _, vm: string, backup: string) {
    const vmId = await call.id('vm', vm)
    const id = await call.id('backup', backup, vmId)
    await call.confirm(`Backup ${backup} of ${vm} will be gone.`, backup)
    const answer = await call.berth.backups.delete(vmId, id)
    return said(answer, backup, answer.message)
  },
})

export const backup = group('backup', 'copies of a disk that outlive its host', [list, get, create, restore, remove])
