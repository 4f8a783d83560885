import type { Command } from 'commander'
import { getAccount } from '../../features/accounts/service.ts'
import type { Deps } from '../../features/deps.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { withCore } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { table, type Result } from '../output.ts'

export function vmCommands(program: Command): void {
  const vm = program.command('vm').description("customers' VMs, as the operator sees them")
  adminCommand(
    vm.command('list').description('list VMs of all accounts, or of one').option('--account <id or email>'),
    'vm list --account you@example.com',
    list,
  )
  const verbs: [string, string, Verb, string?][] = [
    ['suspend', 'suspend a VM: stop it and block starting it', suspend, 'is stopped, and its owner cannot start it.'],
    ['unsuspend', 'lift a suspension and restore the previous power state', unsuspend],
    ['unmanage', 'stop managing and billing a VM, leave it running', unmanage, 'runs on, unmanaged and unbilled, without new backups.'],
    [
      'unrescue',
      'end the rescue of a VM: restart it from its own disk',
      unrescue,
      'is restarted from its own disk; what is on the disk of the rescue system is lost.',
    ],
    ['adopt', 'manage and bill an unmanaged VM again, in its current power state', adopt],
  ]
  for (const [name, about, verb, loss] of verbs) {
    adminCommand(
      vm.command(name).description(about).argument('<id>'),
      `vm ${name} cabc123`,
      (admin, _options, id) => act(admin, id, verb),
      loss ? (_options, id) => `VM ${id} ${loss}` : undefined,
    )
  }
  adminCommand(
    vm
      .command('migrate')
      .description('move a VM to another host of its region; a running one keeps running')
      .argument('<id>')
      .option('--to <host>', 'by default the one with most room')
      .option('--bandwidth <MiB/s>', 'most of memory and disk to send; unlimited by default')
      .option('--dry-run', 'only print where it would go, or why it cannot')
      .option('--cancel', 'end a move that is under way: it stays on its host'),
    'vm migrate cabc123 --to rack2',
    migrate,
  )
}

interface MigrateOptions {
  to?: string
  bandwidth?: string
  dryRun?: boolean
  cancel?: boolean
}

async function migrate(admin: Admin, { to, bandwidth, dryRun = false, cancel = false }: MigrateOptions, id?: string): Promise<Result> {
  const miBPerSecond = bandwidth === undefined ? undefined : Number(bandwidth)
  if (miBPerSecond !== undefined && !(Number.isInteger(miBPerSecond) && miBPerSecond > 0))
    throw new UsageError('--bandwidth is a whole number above 0')
  if (cancel && (dryRun || to !== undefined || bandwidth !== undefined)) throw new UsageError('--cancel takes no other option')
  const { cancelMigration, planMigration, startMigration } = await import('../../features/vms/service.ts')
  if (cancel) {
    const { actionId } = await withCore(admin, (deps) => deps.db.tx((tx) => cancelMigration(tx, deps, id!)))
    return { data: { id, actionId }, text: `VM ${id} stays on its host: action ${actionId} is being undone` }
  }
  const order = { to, miBPerSecond }
  const noted = (text: string, note: string | null): string => [text, note ?? []].flat().join('. ')
  if (dryRun) {
    const plan = await withCore(admin, (deps) => planMigration(deps, id!, order))
    return { data: { id, ...plan }, text: noted(`VM ${id} can be moved from ${plan.from} to ${plan.to}. Nothing was changed`, plan.note) }
  }
  const started = await withCore(admin, (deps) => deps.db.tx((tx) => startMigration(tx, deps, id!, order)))
  const { actionId, from, note } = started
  return { data: { id, ...started }, text: noted(`VM ${id} is being moved from ${from} to ${started.to}: action ${actionId}`, note) }
}

async function list({ db }: Admin, { account }: { account?: string }): Promise<Result> {
  const { listAllVms } = await import('../../features/vms/service.ts') // imported on demand: it loads the API schemas
  const rows = await listAllVms(db, account === undefined ? null : (await getAccount(db, account)).id)
  return table(
    rows.map((row) => ({
      id: row.id,
      name: row.name,
      account: row.email,
      status: row.status,
      plan: row.plan_slug,
      host: row.host_name,
      ipAddress: row.ip_address,
      ipv6Address: row.ipv6_address,
      reason: row.status_reason,
    })),
    ['id', 'name', 'account', 'status', 'plan', 'host', 'ipAddress', 'ipv6Address', 'reason'],
    'No VMs',
  )
}

type Verb = (deps: Deps, vmId: string) => Promise<string>

const suspend: Verb = async (deps, id) => {
  const { suspendByOperator } = await import('../../features/vms/service.ts')
  const { actionId, waitsFor } = await suspendByOperator(deps, id)
  return actionId ? `is being suspended: action ${actionId}` : `is suspended as soon as its action ${waitsFor} has ended`
}

const unsuspend: Verb = async (deps, id) => {
  const { unsuspendByOperator } = await import('../../features/vms/service.ts')
  const { actionId } = await unsuspendByOperator(deps, id)
  return actionId ? `is being unsuspended: action ${actionId}` : 'is not suspended'
}

const unmanage: Verb = async (deps, id) => {
  const { unmanageWhenIdle } = await import('../../features/vms/service.ts')
  const waitsFor = await deps.db.tx((tx) => unmanageWhenIdle(tx, deps, id))
  return waitsFor ? `is unmanaged as soon as its action ${waitsFor} has ended` : 'is no longer managed'
}

const unrescue: Verb = async (deps, id) => {
  const { endRescueByOperator } = await import('../../features/vms/service.ts')
  const { actionId } = await deps.db.tx((tx) => endRescueByOperator(tx, deps, id))
  return `leaves its rescue: action ${actionId}`
}

const adopt: Verb = async (deps, id) => {
  const { adopt: takeBack } = await import('../../features/vms/service.ts')
  await takeBack(deps, id)
  return 'is managed again'
}

async function act(admin: Admin, id: string, verb: Verb): Promise<Result> {
  const outcome = await withCore(admin, (deps) => verb(deps, id))
  return { data: { id, outcome }, text: `VM ${id} ${outcome}` }
}
