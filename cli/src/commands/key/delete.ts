import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
  name: 'delete',
  about: 'forget a key; VMs that have it keep it',
  args: '<key>',
  example: 'key delete laptop',
  asks: true,
  async run(call, _, key: string) {
    const id = await call.id('key', key)
    await call.confirm(`Key ${key} will be gone; VMs that have it keep it.`, key)
    return said(await call.berth.sshKeys.delete(id), key, `Key ${key} is gone`)
  },
})
