import type { Query } from '@berth/sdk'
import { rows } from '../../answer.ts'
import { verb } from '../../command.ts'
import { given } from '../../options.ts'
import { VM_COLUMNS } from '../views.ts'

export const list = verb<{ status?: Query<'listVms'>['status'] }>({
  name: 'list',
  about: 'list your VMs',
  options: [['--status <status>', 'only those that are RUNNING, STOPPED, …']],
  example: 'vm list --status RUNNING',
  run: async ({ berth }, { status }) =>
    rows(await berth.vms.list(given({ status })).all(), VM_COLUMNS, 'There is no VM yet: berth vm create --help'),
})
