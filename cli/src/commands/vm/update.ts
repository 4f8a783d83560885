import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { given, onOff, requireSome } from '../../options.ts'
import { priced, VM_FIELDS } from '../views.ts'

export const update = verb<{ dailyBackups?: string; network10g?: string; dryRun?: true }>({
  name: 'update',
  about: 'switch add-ons of a VM',
  args: '<vm>',
  options: [
    ['--daily-backups <on|off>', 'back it up every day'],
    ['--network-10g <on|off>', '10 Gbit/s'],
  ],
  example: 'vm update web-1 --daily-backups on --dry-run',
  priced: true,
  async run(call, { dailyBackups, network10g, dryRun }, vm: string) {
    const fields = given({
      dailyBackupEnabled: onOff('--daily-backups', dailyBackups),
      network10gEnabled: onOff('--network-10g', network10g),
    })
    const body = requireSome(fields, '--daily-backups on|off, --network-10g on|off')
    const id = await call.id('vm', vm)
    if (dryRun) return priced(await call.berth.vms.quoteUpdate(id, body))
    return record(await call.berth.vms.update(id, body), VM_FIELDS)
  },
})
