import { said } from '../../answer.ts'
import { verb } from '../../command.ts'
import { priced } from '../views.ts'

export const remove = verb<{ dryRun?: true }>({
  name: 'delete',
  about: 'delete a VM with its snapshots and backups; unused whole days are paid back',
  args: '<vm>',
  example: 'vm delete web-1 --yes',
  waits: true,
  asks: true,
  priced: true,
  async run(call, { dryRun }, vm: string) {
    const { id, name } = await call.vm(vm)
    if (dryRun) return priced(await call.berth.vms.quoteDelete(id))
    await call.confirm(`${name} and everything on it will be gone.`, name)
    return call.finish(await call.berth.vms.delete(id), `deleting ${name}`, (action) => said(action, name, `${name} is gone`))
  },
})
