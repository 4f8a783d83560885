import type { Action, Query } from '@berth/sdk'
import { ACTION_COLUMNS, initialization } from '../columns.ts'
import type { CommandContext } from '../command-context.ts'
import { defineCommand, group } from '../command.ts'
import { time } from '../format.ts'
import { omitUndefined } from '../options.ts'
import { details, table, type Columns, type CommandResult } from '../result.ts'

const ACTION_FIELDS: Columns<Action> = {
  Id: (action) => action.id,
  VM: (action) => action.vmId,
  Action: (action) => action.action,
  Status: (action) => action.status,
  Progress: (action) => `${action.progress} %`,
  Steps: (action) => action.steps.map(({ name, status }) => `${name} ${status.toLowerCase()}`),
  Error: (action) => action.error,
  Initialization: (action) => initialization(action.initialization) ?? undefined,
  'Initialization errors': (action) => (action.initialization?.errors.length ? action.initialization.errors : undefined),
  'Initialization output': (action) => action.initialization?.output?.trimEnd() || undefined,
  Started: (action) => time(action.startedAt),
  Completed: (action) => time(action.completedAt),
}

export async function actionTable(ctx: CommandContext, actions: Action[]): Promise<CommandResult> {
  const nameOf = await ctx.vmNames(actions)
  return table(actions, { ...ACTION_COLUMNS, VM: ({ vmId }) => nameOf(vmId) }, 'No actions yet')
}

const list = defineCommand<{ status?: Query<'listActions'>['status'] }>({
  name: 'list',
  description: 'list actions of all VMs, newest first',
  options: [['--status <status>', 'filter by status: PENDING, RUNNING, COMPLETED, FAILED or CANCELLED']],
  example: 'action list --status RUNNING',
  lists: true,
  run: async (ctx, { status }) => actionTable(ctx, await ctx.list(ctx.berth.actions.list(omitUndefined({ status })))),
})

const get = defineCommand({
  name: 'get',
  description: 'show an action with its steps',
  args: '<vm> <action-id>',
  example: 'action get web-1 cmh5x0a2b1c3d4e5f6g7h8i9j',
  run: async (ctx, _, vm: string, id: string) => details(await ctx.berth.actions.get(await ctx.resolveId('vm', vm), id), ACTION_FIELDS),
})

const wait = defineCommand({
  name: 'wait',
  description: 'wait for an action to finish',
  args: '<vm> <action-id>',
  example: 'action wait web-1 cmh5x0a2b1c3d4e5f6g7h8i9j --timeout 60',
  waits: true,
  run: async (ctx, _, vm: string, id: string) => details(await ctx.waitFor(await ctx.resolveId('vm', vm), id, 'waiting'), ACTION_FIELDS),
})

export const action = group('action', 'actions on your VMs', [list, get, wait])
