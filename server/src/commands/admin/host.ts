// `berthd host remove`. VMs are never deleted with their host: they are moved or deleted first, or unmanaged explicitly, and can then be
// adopted when the host is added again.
import type { Command } from 'commander'
import {
  changeHost,
  countHostResources,
  countPins,
  drainedHosts,
  getHost,
  type HostPath,
  type HostRow,
  isSilent,
  listHostsAndDestroyed,
  lostSince,
  oversoldBy,
  pathsOf,
  removeHost,
  toCapacity,
} from '../../features/hosts/service.ts'
import { regionsWithStorage } from '../../features/catalog/service.ts'
import { sql, type Db } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { formatNumberRanges, parseNumberRanges } from '../../kernel/number-ranges.ts'
import { type Admin, adminCommand, type OutputOptions, withCore } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { type Result, table } from '../output.ts'
import { revokeCertificatesOf } from './certificate.ts'
import type { NewHost } from './host-add.ts'
import type { DrainOptions } from './host-drain.ts'
import type { PowerOptions } from './host-power.ts'
import type { RecoverOptions } from './host-recover.ts'
import { addSign, applySigns } from './signed-list.ts'
import { counted } from '../../kernel/counted.ts'

export async function remove(admin: Admin, { unmanage = false }: { unmanage?: boolean }, name?: string): Promise<Result> {
  const { db, now } = admin
  const host = await getHost(db, name!)
  const { vms, networks, backups, volumes } = await countHostResources(db, host.id)
  if ((vms > 0 || networks > 0 || backups > 0 || volumes > 0) && !unmanage) {
    throw apiError(
      'in_use',
      `Host ${host.name} has ${counted(vms, 'VM')}, ${counted(networks, 'private network')}, ${counted(backups, 'backup')} and ${counted(volumes, 'volume')}. Move the VMs to other hosts first (npx berthd host drain ${host.name}), delete what is left, or use --unmanage: VMs keep running, unbilled`,
    )
  }
  const [{ unmanage: leave }, { cancelMaintenancesOf }] = await Promise.all([
    import('../../features/vms/service.ts'),
    import('../../features/maintenances/service.ts'),
  ])
  const outcome = await withCore(admin, (deps) =>
    deps.db.tx(async (tx) => {
      const managed = await tx.many<{ id: string }>(
        sql`select id from vms where host_id = ${host.id} and status <> 'UNMANAGED' order by id`,
      )
      for (const { id } of managed) await leave(tx, deps, id)
      await cancelMaintenancesOf(tx, deps, host.id)
      return removeHost(tx, now, host)
    }),
  )
  // A host that keeps VMs is expected to come back, with its certificate.
  const certificates = outcome === 'forgotten' ? await revokeCertificatesOf(admin, host) : null
  const text =
    outcome === 'forgotten'
      ? [`Host ${host.name} is removed.`, certificates ?? []].flat().join(' ')
      : `Host ${host.name} is removed; ${vms === 1 ? '1 VM keeps' : `${vms} VMs keep`} running on it, unmanaged. To adopt ${vms === 1 ? 'it' : 'them'}, add the host again under this name`
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
      .description('change maintenance mode, overcommit, traits, dedicated CPUs, disk reserve, link speed or capacity')
      .argument('<name>')
      .option('--maintenance <on or off>', 'on: no new VMs are placed on it')
      .option('--cpu-overcommit <number>', 'vCPUs sold for each CPU; 4 by default. Below what is sold, nothing new is placed on it')
      .option('--overcommit <number>', 'the same as --cpu-overcommit')
      .option('--ram-overcommit <number>', 'MiB sold for each MiB of memory; 1 by default')
      .option('--trait <name>', 'it has this, which plans may require: such as gpu; can be repeated', addSign('+'))
      .option('--no-trait <name>', 'it no longer has it', addSign('-'))
      .option(
        '--dedicated-cpus <list>',
        'CPUs for plans with dedicated CPUs, such as 4-15; shared VMs are kept off them. none: no such CPUs',
      )
      .option('--disk-reserve <percent>', 'share of the disk below which nothing new is written; 5 by default')
      .option('--uplink-mbps <number>', 'link speed of its network card, where the host does not know it; 10G needs 10000')
      .option('--refresh-capacity', 'read CPU, memory and disk of the host again')
      .option('--simulate-loss <on or off>', 'of a simulated host: on, and it answers nobody; to try out what follows'),
    'host set rack1 --maintenance on',
    set,
  )
  adminCommand(
    host
      .command('drain')
      .description('move all VMs of a host to others of its region, without stopping them')
      .argument('<name>')
      .option('--dry-run', 'only print where each would go, how long it takes, and what cannot move')
      .option('--stop-others', 'stop VMs that cannot move while they run, move them, and start them again')
      .option('--partial', 'move what can be moved even if some VMs cannot')
      .option('--concurrency <number>', 'migrations at a time from the host, and to each other host', '2')
      .option('--no-wait', 'do not wait until it has ended')
      .option('--status', 'print how far the last drain of the host is')
      .option('--cancel', 'move no further VM; the host stays in maintenance'),
    'host drain rack1 --dry-run',
    async (admin, options: DrainOptions, name) => (await import('./host-drain.ts')).drain(admin, options, name!),
    ({ dryRun, status, cancel, stopOthers }: DrainOptions, name) =>
      stopOthers && !dryRun && !status && !cancel ? `VMs of ${name} that cannot move while they run are restarted.` : null,
  )
  adminCommand(
    host
      .command('set-power')
      .description('say how a host is switched off when it is lost: by Redfish, the interface of its management card')
      .argument('<name>')
      .option('--redfish <url>', 'of the card, or of the system where it has several, such as https://10.0.9.5/redfish/v1/Systems/1')
      .option('--user <name>', 'who may switch it off')
      .option('--password-file <file>', '- for standard input')
      .option('--ca-file <file>', 'certificate of the card, or of who issued it, in PEM')
      .option('--fingerprint <sha256>', 'of the certificate of the card, which is fetched from it: where it has signed its own')
      .option('--system-uuid <uuid>', 'of the system that the card switches, where it is not the one that the host itself has')
      .option('--none', 'it has no power controller'),
    'host set-power rack1 --redfish https://10.0.9.5 --user berth --password-file password --ca-file card.pem',
    async (admin, options: PowerOptions, name) => (await import('./host-power.ts')).setPower(admin, options, name!),
  )
  adminCommand(
    host
      .command('fence')
      .description('keep a lost host from its storage, and switch it off; then its VMs on replicated storage can start elsewhere')
      .argument('<name>'),
    'host fence rack1',
    async (admin, options: OutputOptions, name) => (await import('./host-fence.ts')).fence(admin, options, name!),
    (_, name) =>
      `Host ${name} is blocked in its storage backends, and switched off if it has a power controller: VMs that may still run there stop.`,
  )
  adminCommand(
    host
      .command('recover')
      .description('start the VMs of a fenced host on others, or restore those of a destroyed one from their backups')
      .argument('<name>')
      .option('--destroyed', 'the host and its disks are gone for good: whatever happens, it never runs its VMs again')
      .option('--to <hosts...>', 'restore on these hosts only')
      .option('--dry-run', 'only print what would be restored where, and what is lost'),
    'host recover rack1 --dry-run',
    async (admin, options: RecoverOptions, name) => (await import('./host-recover.ts')).recover(admin, options, name!),
    ({ dryRun, destroyed }: RecoverOptions, name) =>
      dryRun || !destroyed // what a fenced host had started elsewhere loses nothing
        ? null
        : `Host ${name} is given up for good. Its VMs are restored from backups; what was written since, and what has no backup, is lost.`,
  )
  adminCommand(
    host
      .command('recoveries')
      .description('list VMs of lost hosts that wait for room, or that another host could not start yet, and when it is tried again'),
    'host recoveries',
    async (admin: Admin) => (await import('./host-recover.ts')).listRecoveries(admin),
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

const MOST_CPUS = 4096

function parseCpus(list: string): number[] {
  const cpus = list === 'none' ? [] : parseNumberRanges(list, MOST_CPUS)
  if (!cpus) throw new UsageError('--dedicated-cpus is a list of CPUs, such as 4-15 or 4-7,12-15, or none')
  return cpus
}

export function stateOf(
  host: Pick<HostRow, 'maintenance' | 'unreachable_since' | 'last_seen_at' | 'fenced_at' | 'lost_at'>,
  paths: HostPath[] = [],
): string {
  if (host.lost_at) return `destroyed${host.fenced_at ? ' and fenced' : ''}, kept until its VMs are recovered or deleted`
  if (host.fenced_at) return `fenced since ${host.fenced_at.toISOString()}${host.unreachable_since ? '' : ', has returned and is cleaned'}`
  const lost = paths.length > 0 ? lostSince(paths) : null
  if (lost) return `lost: no path answers since ${lost.toISOString()}`
  if (host.unreachable_since) return `unreachable since ${host.unreachable_since.toISOString()}`
  if (host.maintenance) return 'maintenance'
  return host.last_seen_at ? 'ready' : 'not yet seen'
}

const describePath = (path: HostPath): string =>
  `${path.path.toLowerCase()} ${path.problem !== null ? 'unknown' : isSilent(path) ? `silent since ${path.silentSince!.toISOString()}` : 'heard'}`

async function list({ db }: Admin): Promise<Result> {
  const [hosts, drained] = await Promise.all([listHostsAndDestroyed(db), drainedHosts(db)])
  const [pathsByHost, pins, replicated] = [await pathsOf(db, hosts), await countPins(db), new Set(await regionsWithStorage(db))]
  const rows = hosts.map((row) => ({
    id: row.id,
    name: row.name,
    region: row.region_slug,
    driver: row.driver,
    uri: row.uri,
    arch: row.arch,
    guestTypes: row.guest_types,
    acceleration: row.acceleration,
    ...toCapacity(row),
    diskGiB: { ...toCapacity(row).diskGiB, reserve: row.disk_reserve_gib, free: row.disk_free_gib },
    uplinkMbps: row.uplink_mbps,
    overcommit: row.vcpu_overcommit,
    ramOvercommit: row.ram_overcommit,
    dedicatedCpus: { used: pins.get(row.id) ?? 0, total: row.dedicated_cpus.length, list: formatNumberRanges(row.dedicated_cpus) },
    traits: [...row.all_traits, ...(replicated.has(row.region_slug) ? ['replicated-storage'] : [])],
    maintenance: row.maintenance,
    state: drained.has(row.id) && !row.unreachable_since ? 'draining' : stateOf(row, pathsByHost.get(row.id)!),
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
    power: row.power_url,
    paths: pathsByHost.get(row.id)!.map(({ path, seenAt, silentSince, problem }) => ({
      path,
      seenAt: seenAt?.toISOString() ?? null,
      silentSince: silentSince?.toISOString() ?? null,
      problem,
    })),
  }))
  const ofTotal = ({ used, total }: { used: number; total: number }): string => `${used}/${total}`
  const shown = table(
    rows.map((row) => ({
      ...row,
      vcpu: ofTotal(row.vcpu),
      ramMiB: ofTotal(row.ramMiB),
      diskGiB: ofTotal(row.diskGiB),
      reserveGiB: row.diskGiB.reserve,
      dedicatedCpus: ofTotal(row.dedicatedCpus),
      traits: row.traits.join(' '),
      paths: pathsByHost.get(row.id)!.map(describePath).join(', '),
    })),
    [
      'id',
      'name',
      'region',
      'driver',
      'acceleration',
      'vcpu',
      'dedicatedCpus',
      'ramMiB',
      'diskGiB',
      'reserveGiB',
      'traits',
      'state',
      'lastSeenAt',
      'paths',
    ],
    'No hosts yet: npm start sets up this machine, npx berthd host add adds another',
  )
  return { data: rows, text: shown.text }
}

function describe(host: HostRow): string {
  const shared = host.vcpu_total - host.dedicated_cpus.length
  const dedicated = host.dedicated_cpus.length > 0 ? ` and CPU ${formatNumberRanges(host.dedicated_cpus)} dedicated` : ''
  const ram = host.ram_overcommit === 1 ? '' : ` × ${host.ram_overcommit}`
  const traits = host.all_traits.length > 0 ? `, ${host.all_traits.join(' ')}` : ''
  const sold = oversoldBy(host)
  return `Host ${host.name}: ${stateOf(host)}, ${counted(shared, 'CPU')} × ${host.vcpu_overcommit}${dedicated}, ${host.ram_total_mib} MiB${ram}, ${host.disk_total_gib} GiB, of which ${host.disk_reserve_gib} GiB reserve${traits}${sold ? `. ${sold}` : ''}`
}

interface Change {
  maintenance?: string
  overcommit?: string
  cpuOvercommit?: string
  ramOvercommit?: string
  trait?: string[]
  dedicatedCpus?: string
  diskReserve?: string
  uplinkMbps?: string
  refreshCapacity?: boolean
  simulateLoss?: string
}

async function simulateLoss(db: Db, { id, name, driver }: HostRow, loss: string): Promise<void> {
  if (!['on', 'off'].includes(loss)) throw new UsageError('--simulate-loss is on or off')
  if (driver !== 'simulated') throw new UsageError(`${name} is a real host: only the loss of a simulated one is simulated`)
  const { faultControl } = await import('../../hypervisor/simulated/faults.ts')
  const faults = faultControl(db, id)
  await (loss === 'on' ? faults.loseHost() : faults.returnHost())
}

async function set(admin: Admin, change: Change, name?: string): Promise<Result> {
  const { db } = admin
  if (change.maintenance !== undefined && !['on', 'off'].includes(change.maintenance)) throw new UsageError('--maintenance is on or off')
  const host = await getHost(db, name!)
  if (change.simulateLoss !== undefined) await simulateLoss(db, host, change.simulateLoss)
  const overcommit = change.cpuOvercommit ?? change.overcommit
  const changed = await db.tx(async (tx) =>
    changeHost(tx, host, {
      ...(change.maintenance !== undefined && { maintenance: change.maintenance === 'on' }),
      ...(overcommit !== undefined && { overcommit: Number(overcommit) }),
      ...(change.ramOvercommit !== undefined && { ramOvercommit: Number(change.ramOvercommit) }),
      ...(change.trait !== undefined && { traits: applySigns(host.traits, change.trait) }),
      ...(change.dedicatedCpus !== undefined && { dedicatedCpus: parseCpus(change.dedicatedCpus) }),
      ...(change.diskReserve !== undefined && { diskReserve: Number(change.diskReserve) }),
      ...(change.uplinkMbps !== undefined && { uplinkMbps: Number(change.uplinkMbps) }),
      ...(change.refreshCapacity && { capacity: await (await import('./host-add.ts')).readCapacity(admin, host) }),
    }),
  )
  const data = {
    id: host.id,
    name: host.name,
    maintenance: changed.maintenance,
    overcommit: changed.vcpu_overcommit,
    ramOvercommit: changed.ram_overcommit,
    traits: changed.all_traits,
    dedicatedCpus: formatNumberRanges(changed.dedicated_cpus),
    uplinkMbps: changed.uplink_mbps,
    ramMiB: changed.ram_total_mib,
    diskGiB: changed.disk_total_gib,
    diskReserveGiB: changed.disk_reserve_gib,
  }
  const gone = change.simulateLoss === 'on' ? `. It answers nobody until: npx berthd host set ${host.name} --simulate-loss off` : ''
  return {
    data,
    text: `${describe(changed)}${gone}`,
  }
}
