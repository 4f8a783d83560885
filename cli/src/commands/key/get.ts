import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { KEY_FIELDS } from './fields.ts'

export const get = verb({
  name: 'get',
  about: 'show an SSH key',
  args: '<key>',
  example: 'key get laptop',
  run: async (call, _, key: string) => record(await call.berth.sshKeys.get(await call.id('key', key)), KEY_FIELDS),
})
