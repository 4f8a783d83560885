import type { Command } from 'commander'
import { adminCommand, loadEventDeps, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { table, type Result } from '../output.ts'
import { counted } from '../../kernel/counted.ts'

export function maintenanceCommands(program: Command): void {
  const maintenance = program.command('maintenance').description('maintenances of hosts, announced to the customers concerned')
  adminCommand(
    maintenance
      .command('create')
      .description('announce a maintenance to all accounts with VMs on a host')
      .requiredOption('--host <name>')
      .requiredOption('--from <time>', 'ISO 8601, such as 2027-03-01T22:00Z')
      .requiredOption('--to <time>')
      .requiredOption('--text <text>', 'what customers read: plain text, and not the name of the host'),
    'maintenance create --host rack1 --from 2027-03-01T22:00Z --to 2027-03-01T23:00Z --text "New memory. Your VM keeps running."',
    create,
  )
  adminCommand(
    maintenance
      .command('list')
      .description('list maintenances, newest first')
      .option('--id <id>', 'only this one: by its id here, or by that which a customer has of it'),
    'maintenance list',
    list,
  )
  adminCommand(
    maintenance.command('cancel').description('cancel a maintenance and notify the accounts concerned').argument('<id>'),
    'maintenance cancel cabc123',
    cancel,
  )
}

interface CreateOptions {
  host: string
  from: string
  to: string
  text: string
}

/** Without a time zone it would be that of this machine. */
function readTime(option: string, text: string): Date {
  const time = new Date(text)
  if (!/T.*(Z|[+-]\d{2}:\d{2})$/.test(text) || Number.isNaN(time.getTime()))
    throw new UsageError(`${option} is a time with its zone, such as 2027-03-01T22:00Z`)
  return time
}

async function create(admin: Admin, { host, from, to, text }: CreateOptions): Promise<Result> {
  const order = { host, startsAt: readTime('--from', from), endsAt: readTime('--to', to), text }
  const deps = await loadEventDeps(admin)
  const { announceMaintenance } = await import('../../features/maintenances/service.ts')
  const data = await admin.db.tx((tx) => announceMaintenance(tx, deps, order))
  return { data, text: `Maintenance ${data.id} is announced to ${counted(data.accounts, 'account')}` }
}

async function list({ db, now }: Admin, { id }: { id?: string }): Promise<Result> {
  const { listAllMaintenances } = await import('../../features/maintenances/service.ts')
  const rows = await listAllMaintenances(db, now, id)
  return table(
    rows.map((row) => ({ ...row })),
    ['id', 'host', 'state', 'startsAt', 'endsAt', 'accounts', 'vms', 'text'],
    id === undefined ? 'No maintenances' : `No maintenance ${id}`,
  )
}

async function cancel(admin: Admin, _: object, id?: string): Promise<Result> {
  const deps = await loadEventDeps(admin)
  const { cancelMaintenance } = await import('../../features/maintenances/service.ts')
  const data = await admin.db.tx((tx) => cancelMaintenance(tx, deps, id!))
  return { data, text: `Maintenance ${data.id} is cancelled: ${counted(data.accounts, 'account')} notified` }
}
