import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
  name: 'delete',
  about: 'delete a VM with its snapshots and backups; unused whole days are paid back',
  args: '<vm>',
  example: 'vm delete web-1 --yes',
  waits: true,
  asks: true,
  async run(call, _, vm: string) {
    const { id, name } = await call.vm(vm)
    await call.confirm(`${name} and everything on it will be gone.`, name)
    return call.finish(await call.berth.vms.delete(id), `deleting ${name}`, (action) => said(action, name, `${name} is gone`))
  },
})
