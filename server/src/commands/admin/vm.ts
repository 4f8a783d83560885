import type { Command } from 'commander'
import { getAccount } from '../../features/accounts/service.ts'
import type { Deps } from '../../features/deps.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { withCore } from '../admin-command.ts'
import { table, type Result } from '../output.ts'

export function vmCommands(program: Command): void {
  const vm = program.command('vm').description("customers' VMs, as the operator sees them")
  adminCommand(
    vm.command('list').description('list VMs of all accounts, or of one').option('--account <id or email>'),
    'vm list --account you@example.com',
    list,
  )
  const verbs: [string, string, Verb][] = [
    ['suspend', 'stop a VM and keep it from being started', suspend],
    ['unsuspend', 'lift a suspension: back to the power state before', unsuspend],
    ['unmanage', 'stop managing and billing a VM, leave it running', unmanage],
    ['adopt', 'take an unmanaged VM back, in the power state it is found in', adopt],
  ]
  for (const [name, about, verb] of verbs) {
    adminCommand(vm.command(name).description(about).argument('<id>'), `vm ${name} cabc123`, (admin, _options, id) => act(admin, id, verb))
  }
}

async function list({ db }: Admin, { account }: { account?: string }): Promise<Result> {
  const { listAllVms } = await import('../../features/vms/service.ts') // brings the schemas of the API, which other commands need not wait for
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
      reason: row.status_reason,
    })),
    ['id', 'name', 'account', 'status', 'plan', 'host', 'ipAddress', 'reason'],
    'There is no VM',
  )
}

type Verb = (deps: Deps, vmId: string) => Promise<string>

const suspend: Verb = async (deps, id) => {
  const { suspendByOperator } = await import('../../features/vms/service.ts')
  return `is being suspended: action ${await suspendByOperator(deps, id)}`
}

const unsuspend: Verb = async (deps, id) => {
  const { unsuspendByOperator } = await import('../../features/vms/service.ts')
  return `is being brought back: action ${await unsuspendByOperator(deps, id)}`
}

const unmanage: Verb = async (deps, id) => {
  const { unmanage: leaveAlone } = await import('../../features/vms/service.ts')
  await deps.db.tx((tx) => leaveAlone(tx, deps, id))
  return 'is no longer managed'
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
