import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
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
