// `berthd host remove`. VMs are never deleted with their host: they are moved or deleted first, or unmanaged explicitly, and can then be
// adopted when the host is added again.
import type { Command } from 'commander'
import { countHostResources, changeHost, getHost, type HostRow, listHosts, removeHost, toCapacity } from '../../features/hosts/service.ts'
import { sql } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { type Admin, adminCommand, withCore } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { type Result, table } from '../output.ts'
import { revokeCertificatesOf } from './certificate.ts'
import type { NewHost } from './host-add.ts'
import type { RecoverOptions } from './host-recover.ts'

export async function remove(admin: Admin, { unmanage = false }: { unmanage?: boolean }, name?: string): Promise<Result> {
  const { db, now } = admin
  const host = await getHost(db, name!)
  const { vms, networks, backups, volumes } = await countHostResources(db, host.id)
  if ((vms > 0 || networks > 0 || backups > 0 || volumes > 0) && !unmanage) {
    throw apiError(
      'in_use',
      `Host ${host.name} has ${vms} VMs, ${networks} private networks, ${backups} backups and ${volumes} volumes. Delete them first, or use --unmanage: VMs keep running, unbilled`,
    )
  }
  const { unmanage: leave } = await import('../../features/vms/service.ts')
  const outcome = await withCore(admin, (deps) =>
    deps.db.tx(async (tx) => {
      const managed = await tx.many<{ id: string }>(
        sql`select id from vms where host_id = ${host.id} and status <> 'UNMANAGED' order by id`,
      )
      for (const { id } of managed) await leave(tx, deps, id)
      return removeHost(tx, now, host)
    }),
  )
  // A host that keeps VMs is expected to come back, with its certificate.
  const certificates = outcome === 'forgotten' ? await revokeCertificatesOf(admin, host) : null
  const text =
    outcome === 'forgotten'
      ? [`Host ${host.name} is removed.`, certificates ?? []].flat().join(' ')
      : `Host ${host.name} is removed; ${vms} VMs keep running on it, unmanaged. To adopt them, add the host again under this name`
  return { data: { id: host.id, name: host.name, outcome, vms, certificates }, text }
}

export function hostCommands(program: Command): void {
  const host = program.command('host').description('machines that run VMs')
  adminCommand(host.command('list').description('list hosts with their usage'), 'host list', list)
  adminCommand(
    host
      .command('add')
      .description('register a prepared host')
      .argument('<uri>', 'such as qemu+tls://10.0.0.5/system')
      .option('--name <name>', 'by default the host name of the machine')
      .option('--region <slug>', 'required when there are several')
      .option('--range <cidr>', 'its public addresses, as printed by host prepare; none: those of its region only')
      .option('--network-controller <address>', 'of its region, where it is the first host: such as unix:/run/ovn')
      .option('--dns <addresses...>', 'resolvers for guests', ['1.1.1.1', '9.9.9.9']),
    'host add qemu+tls://10.0.0.5/system --name rack1 --region fra1',
    async (admin, options: NewHost, uri) => (await import('./host-add.ts')).add(admin, options, uri), // imported on demand: it loads the libvirt client
  )
  adminCommand(
    host
      .command('set')
      .description('change maintenance mode, overcommit, disk reserve, link speed or capacity')
      .argument('<name>')
      .option('--maintenance <on or off>', 'on: no new VMs are placed on it')
      .option('--overcommit <number>', 'vCPU overcommit ratio; 4 by default')
      .option('--disk-reserve <percent>', 'share of the disk below which nothing new is written; 5 by default')
      .option('--uplink-mbps <number>', 'link speed of its network card, where the host does not know it; 10G needs 10000')
      .option('--refresh-capacity', 'read CPU, memory and disk of the host again'),
    'host set rack1 --maintenance on',
    set,
  )
  adminCommand(
    host
      .command('recover')
      .description('restore the VMs of a destroyed host on other hosts, from their backups')
      .argument('<name>')
      .option('--destroyed', 'the host and its disks are gone for good: whatever happens, it never runs its VMs again')
      .option('--to <hosts...>', 'restore on these hosts only')
      .option('--dry-run', 'only print what would be restored where, and what is lost'),
    'host recover rack1 --dry-run',
    async (admin, options: RecoverOptions, name) => (await import('./host-recover.ts')).recover(admin, options, name!),
    ({ dryRun, destroyed }: RecoverOptions, name) =>
      dryRun || !destroyed
        ? null
        : `Host ${name} is given up for good. Its VMs are restored from backups; what was written since, and what has no backup, is lost.`,
  )
  adminCommand(
    host
      .command('remove')
      .description('remove a host')
      .argument('<name>')
      .option('--unmanage', 'keep its VMs running there, unmanaged and unbilled, until they are adopted'),
    'host remove rack1',
    remove,
    ({ unmanage }: { unmanage?: boolean }, name) =>
      `Host ${name} is removed${unmanage ? '; its VMs keep running there, unmanaged and unbilled' : ''}.`,
  )
}

export function stateOf(host: Pick<HostRow, 'maintenance' | 'unreachable_since' | 'last_seen_at'>): string {
  if (host.unreachable_since) return `unreachable since ${host.unreachable_since.toISOString()}`
  if (host.maintenance) return 'maintenance'
  return host.last_seen_at ? 'ready' : 'not yet seen'
}

async function list({ db }: Admin): Promise<Result> {
  const rows = (await listHosts(db)).map((row) => ({
    id: row.id,
    name: row.name,
    region: row.region_slug,
    driver: row.driver,
    uri: row.uri,
    arch: row.arch,
    acceleration: row.acceleration,
    ...toCapacity(row),
    diskGiB: { ...toCapacity(row).diskGiB, reserve: row.disk_reserve_gib, free: row.disk_free_gib },
    uplinkMbps: row.uplink_mbps,
    maintenance: row.maintenance,
    state: stateOf(row),
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
  }))
  const ofTotal = ({ used, total }: { used: number; total: number }): string => `${used}/${total}`
  const shown = table(
    rows.map((row) => ({
      ...row,
      vcpu: ofTotal(row.vcpu),
      ramMiB: ofTotal(row.ramMiB),
      diskGiB: ofTotal(row.diskGiB),
      reserveGiB: row.diskGiB.reserve,
    })),
    ['id', 'name', 'region', 'driver', 'acceleration', 'vcpu', 'ramMiB', 'diskGiB', 'reserveGiB', 'state', 'lastSeenAt'],
    'No hosts yet: npm start sets up this machine, npx berthd host add adds another',
  )
  return { data: rows, text: shown.text }
}

interface Change {
  maintenance?: string
  overcommit?: string
  diskReserve?: string
  uplinkMbps?: string
  refreshCapacity?: boolean
}

async function set({ config, db }: Admin, change: Change, name?: string): Promise<Result> {
  if (change.maintenance !== undefined && !['on', 'off'].includes(change.maintenance)) throw new UsageError('--maintenance is on or off')
  const host = await getHost(db, name!)
  const changed = await db.tx(async (tx) =>
    changeHost(tx, host, {
      ...(change.maintenance !== undefined && { maintenance: change.maintenance === 'on' }),
      ...(change.overcommit !== undefined && { overcommit: Number(change.overcommit) }),
      ...(change.diskReserve !== undefined && { diskReserve: Number(change.diskReserve) }),
      ...(change.uplinkMbps !== undefined && { uplinkMbps: Number(change.uplinkMbps) }),
      ...(change.refreshCapacity && { capacity: await (await import('./host-add.ts')).readCapacity(config, host) }),
    }),
  )
  const data = {
    id: host.id,
    name: host.name,
    maintenance: changed.maintenance,
    overcommit: changed.vcpu_overcommit,
    uplinkMbps: changed.uplink_mbps,
    ramMiB: changed.ram_total_mib,
    diskGiB: changed.disk_total_gib,
    diskReserveGiB: changed.disk_reserve_gib,
  }
  return {
    data,
    text: `Host ${host.name}: ${stateOf(changed)}, ${changed.vcpu_total} CPUs × ${changed.vcpu_overcommit}, ${changed.ram_total_mib} MiB, ${changed.disk_total_gib} GiB, of which ${changed.disk_reserve_gib} GiB reserve`,
  }
}
