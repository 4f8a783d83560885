import { Option, type Command } from 'commander'
import { getAccount } from '../../features/accounts/service.ts'
import type { OperatorActionDetails } from '../../features/operator/work.schema.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { withCore } from '../admin-command.ts'
import { oneLine, table, type Result } from '../output.ts'

const MAX_SHOWN = 100
const STATUSES = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED']

export function actionCommands(program: Command): void {
  const action = program.command('action').description('actions of all accounts')
  adminCommand(
    action
      .command('list')
      .description(`list the newest ${MAX_SHOWN} actions`)
      .addOption(new Option('--status <status>').choices(STATUSES))
      .option('--vm <id>')
      .option('--account <id or email>')
      .option('--cleanup-failed', 'only those that need manual cleanup'),
    'action list --status FAILED',
    list,
  )
  adminCommand(action.command('show').description('show an action with its steps').argument('<id>'), 'action show cabc123', show)
  adminCommand(
    action.command('retry').description('retry a waiting action now').argument('<id>'),
    'action retry cabc123',
    async (admin, _options, id) => {
      const { retryAction } = await work()
      const data = await withCore(admin, (deps) => deps.db.tx((tx) => retryAction(tx, deps, id!)))
      return { data, text: `Action ${id} is being retried` }
    },
  )
}

interface Filter {
  status?: string
  vm?: string
  account?: string
  cleanupFailed?: true
}

async function list({ db }: Admin, { status, account, cleanupFailed, ...rest }: Filter): Promise<Result> {
  const filter = {
    ...rest,
    ...(status && { status }),
    ...(cleanupFailed && { cleanupFailed }),
    ...(account && { account: (await getAccount(db, account)).id }),
  }
  const { items } = await (await work()).showActions(db, filter, { page: 1, limit: MAX_SHOWN })
  const { text } = table(
    items.map((each) => ({ ...each, account: each.email, vm: each.subjectName })),
    ['id', 'action', 'status', 'progress', 'attempt', 'account', 'vm', 'createdAt', 'error'],
    'No matching actions',
  )
  return { data: items, text }
}

async function show({ db }: Admin, _: object, id?: string): Promise<Result> {
  const data = await (await work()).showAction(db, id!)
  return { data, text: asText(data) }
}

function asText({ id, action, status, email, subjectId, error, steps }: OperatorActionDetails): string {
  const head = [`${id} · ${action} · ${status}`, email && `account ${email}`, subjectId && `VM ${subjectId}`, error]
  const { text } = table(steps, ['name', 'status', 'tries', 'startedAt', 'completedAt', 'error'], 'No steps yet')
  return [...head.filter((line) => line).map((line) => oneLine(line!)), text].join('\n')
}

/** Imported on demand: it loads the API schemas, which other commands do not need. */
const work = () => import('../../features/operator/actions-health.ts')
