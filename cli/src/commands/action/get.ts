import { record } from '../../answer.ts'
import { verb } from '../../command.ts'
import { ACTION_FIELDS } from '../views.ts'

export const get = verb({
  name: 'get',
  about: 'show an action with its steps',
  args: '<vm> <action-id>',
  example: 'action get web-1 cmh5x0a2b1c3d4e5f6g7h8i9j',
  run: async (call, _, vm: string, id: string) => record(await call.berth.actions.get(await call.id('vm', vm), id), ACTION_FIELDS),
})
