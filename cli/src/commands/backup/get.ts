import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { BACKUP_FIELDS } from '../views.ts'

export const get = verb({
  name: 'get',
  about: 'show a backup',
  args: '<vm> <backup>',
  example: 'backup get web-1 monday',
  async run(call, _, vm: string, backup: string) {
    const vmId = await call.id('vm', vm)
    return record(await call.berth.backups.get(vmId, await call.id('backup', backup, vmId)), BACKUP_FIELDS)
  },
})
