import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
  name: 'delete',
  about: 'delete a backup',
  args: '<vm> <backup>',
  example: 'backup delete web-1 monday',
  async run(call, _, vm: string, backup: string) {
    const vmId = await call.id('vm', vm)
    const answer = await call.berth.backups.delete(vmId, await call.id('backup', backup, vmId))
    return said(answer, backup, answer.message)
  },
})
