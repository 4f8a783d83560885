import { said } from '../../answer.ts'
import { verb } from '../../command.ts'

export const remove = verb({
  name: 'delete',
  about: 'forget a key; VMs that have it keep it',
  args: '<key>',
  example: 'key delete laptop',
  run: async (call, _, key: string) => said(await call.berth.sshKeys.delete(await call.id('key', key)), key, `Key ${key} is gone`),
})
