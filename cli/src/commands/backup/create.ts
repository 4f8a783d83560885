import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { BACKUP_FIELDS } from '../views.ts'

export const create = verb({
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
