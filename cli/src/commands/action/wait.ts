import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { ACTION_FIELDS } from '../views.ts'

export const wait = verb({
  name: 'wait',
  about: 'wait for the end of an action',
  args: '<vm> <action-id>',
  example: 'action wait web-1 cmh5x0a2b1c3d4e5f6g7h8i9j --timeout 60',
  waits: true,
  run: async (call, _, vm: string, id: string) => record(await call.waitFor(await call.id('vm', vm), id, 'waiting'), ACTION_FIELDS),
})
