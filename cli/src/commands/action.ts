import type { Action, Query } from '@berth/sdk'
import { record, rows, type Columns } from '../answer.ts'
import { ACTION_COLUMNS } from '../columns.ts'
import { group, verb } from '../command.ts'
import { time } from '../format.ts'
import { given } from '../options.ts'

const ACTION_FIELDS: Columns<Action> = {
  Id: (action) => action.id,
  VM: (action) => action.vmId,
  Action: (action) => action.action,
  Status: (action) => action.status,
  Progress: (action) => `${action.progress} %`,
  Steps: (action) => action.steps.map(({ name, status }) => `${name} ${status.toLowerCase()}`),
  Error: (action) => action.error,
  Started: (action) => time(action.startedAt),
  Completed: (action) => time(action.completedAt),
}

const list = verb<{ status?: Query<'listActions'>['status'] }>({
  name: 'list',
  about: 'list actions of all VMs, the newest first',
  options: [['--status <status>', 'PENDING, RUNNING, COMPLETED, FAILED or CANCELLED']],
  example: 'action list --status RUNNING',
  run: async ({ berth }, { status }) => rows(await berth.actions.list(given({ status })).all(), ACTION_COLUMNS, 'Nothing was done yet'),
})

const get = verb({
  name: 'get',
  about: 'show an action with its steps',
  args: '<vm> <action-id>',
  example: 'action get web-1 cmh5x0a2b1c3d4e5f6g7h8i9j',
  run: async (call, _, vm: string, id: string) => record(await call.berth.actions.get(await call.id('vm', vm), id), ACTION_FIELDS),
})

const wait = verb({
  name: 'wait',
  about: 'wait for the end of an action',
  args: '<vm> <action-id>',
  example: 'action wait web-1 cmh5x0a2b1c3d4e5f6g7h8i9j --timeout 60',
  waits: true,
  run: async (call, _, vm: string, id: string) => record(await call.waitFor(await call.id('vm', vm), id, 'waiting'), ACTION_FIELDS),
})

export const action = group('action', 'work on your VMs', [list, get, wait])
