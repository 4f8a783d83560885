import type { Query } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { given } from '../../options.ts'
import { ACTION_COLUMNS } from '../views.ts'

export const list = verb<{ status?: Query<'listActions'>['status'] }>({
  name: 'list',
  about: 'list actions of all VMs, the newest first',
  options: [['--status <status>', 'PENDING, RUNNING, COMPLETED, FAILED or CANCELLED']],
  example: 'action list --status RUNNING',
  run: async ({ berth }, { status }) => rows(await berth.actions.list(given({ status })).all(), ACTION_COLUMNS, 'Nothing was done yet'),
})
