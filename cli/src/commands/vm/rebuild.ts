import { verb } from '../../command.ts'
import { wrongUsage } from '../../failure.ts'
import { given, textOrFile, words } from '../../options.ts'
import { priced } from '../views.ts'
import { changeVm } from './power.ts'

export const rebuild = verb<{ os?: string; key?: string[]; password?: string; dryRun?: true }>({
  name: 'rebuild',
  about: 'begin anew from an OS template: everything on the disk is lost',
  args: '<vm>',
  options: [
    ['--os <os>', 'OS template, as in berth os list (required)'],
    ['--key <key...>', 'SSH keys that may log in'],
    ['--password <password>', 'for the console; - reads it from stdin, @file from a file'],
  ],
  example: 'vm rebuild web-1 --os debian-12 --key laptop',
  waits: true,
  asks: true,
  priced: true,
  async run(call, { os, key, password, dryRun }, vm: string) {
    if (!os) throw wrongUsage('Say which OS: --os debian-12, or another of berth os list')
    const [osTemplateId, sshKeyIds] = await Promise.all([call.id('os', os), key && call.ids('key', words(key))])
    if (!dryRun) await call.confirm(`Everything on the disk of ${vm} is lost.`, vm)
    const body = { osTemplateId, ...given({ sshKeyIds, password: password && textOrFile(password).trim() }) }
    if (dryRun) return priced(await call.berth.vms.quoteRebuild(await call.id('vm', vm), body))
    return changeVm(call, vm, 'rebuilding', (berth, id) => berth.vms.rebuild(id, body))
  },
})
