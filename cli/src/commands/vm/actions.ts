import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { ACTION_COLUMNS } from '../views.ts'

export const actions = verb({
  name: 'actions',
  about: 'what was done to a VM, the newest first',
  args: '<vm>',
  example: 'vm actions web-1',
  run: async (call, _, vm: string) =>
    rows(await call.berth.actions.ofVm(await call.id('vm', vm)).all(), ACTION_COLUMNS, 'Nothing was done to it yet'),
})
