// Registration, removal and settings of hosts.
import { isNetworkController, LOCAL_CONTROLLER } from '../../hypervisor/network-controller-address.ts'
import { formatCidr, parseCidr } from '../../kernel/cidr.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { invalid, apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { checkedTraits, getRegion, type RegionRow } from '../catalog/service.ts'
import { forgetPortsOfHost, markPortsOfHostDirty } from '../ports/service.ts'
import { releaseImageRoomsOf } from './capacity.ts'
import { objectionTo, pinnedCpus } from './cpus.ts'
import type { VerifiedHost } from './host-setup.ts'
import { addPool, dropPoolsOf, listRanges } from './public-addresses.ts'
import * as sql from './sql.ts'

export interface Registration extends VerifiedHost {
  name: string
  region: string
  uri: string
  /** Of the region, when this is its first host. */
  networkController?: string
  /** Public address range of the host's VMs, with its gateway; null when a regional pool serves it. */
  range: { cidr: string; gateway: string; dns: string[] } | null
}

export const HOST_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** A host that was removed earlier comes back with the VMs it still has; an operator then adopts them. */
export async function registerHost(tx: Tx, now: Date, host: Registration): Promise<sql.HostRow> {
  if (!HOST_NAME.test(host.name)) throw invalid(`"${host.name}" is not a name: use letters, digits and hyphens`, 'name')
  const region = await getRegion(tx, host.region)
  const known = await sql.findHost(tx, host.name)
  if (known && !known.removed_at) throw apiError('already_exists', `There is a host ${host.name} already: choose another --name`)
  if (known?.lost_at)
    throw apiError('already_exists', `${host.name} was declared destroyed, and not all of its VMs are recovered: choose another --name`)
  if (known && known.driver !== 'libvirt') throw apiError('already_exists', `${host.name} was a simulated host: choose another --name`)
  const twin = (await sql.listHosts(tx)).find(({ uri, driver }) => uri === host.uri && driver === 'libvirt')
  if (twin) throw apiError('already_exists', `${host.uri} is the host ${twin.name} already`)
  await joinLibvirtRegion(tx, region, host.networkController ?? region.network_controller ?? (isLocal(host.uri) ? LOCAL_CONTROLLER : null))
  const namesake = (await sql.listHostsIn(tx, region.id)).find((each) => each.driver === 'libvirt' && each.hostname === host.hostname)
  if (namesake && namesake.id !== known?.id)
    throw apiError(
      'already_exists',
      `The host ${namesake.name} of region ${region.slug} calls itself ${host.hostname} too, so OVN cannot tell them apart: give one another name (hostnamectl), and prepare it again`,
    )
  const id = known?.id ?? newId()
  const size = { vcpu_total: host.vcpu, ram_total_mib: host.ramMiB, disk_total_gib: host.diskGiB }
  const names = { id, region_id: region.id, name: host.name, hostname: host.hostname }
  await sql.insertHost(tx, { ...names, driver: 'libvirt', uri: host.uri, created_at: now, ...size })
  await sql.writeFacts(tx, id, { ...host, guest_types: host.guestTypes })
  if (known && known.hostname !== host.hostname) await markPortsOfHostDirty(tx, id)
  await sql.writeCapacity(tx, id, host)
  if (host.range) await keepRange(tx, now, { regionId: region.id, hostId: id, ...host.range })
  return (await sql.findHost(tx, id))!
}

const isLocal = (uri: string): boolean => URL.parse(uri)?.hostname === ''

/** One controller connects all hosts of a region: the first libvirt host brings it. */
export async function joinLibvirtRegion(tx: Tx, region: RegionRow, controller: string | null): Promise<void> {
  const { slug, network_controller: current } = region
  if (current !== null && current === controller) return
  if (controller === null)
    throw invalid(`region ${slug} has no network controller yet: say where it is, such as ${LOCAL_CONTROLLER}`, 'networkController')
  if (current !== null)
    throw apiError('already_exists', `The network controller of region ${slug} is ${current}, so it cannot be ${controller}`)
  if (!isNetworkController(controller))
    throw invalid(`"${controller}" is no network controller: such as ${LOCAL_CONTROLLER}`, 'networkController')
  await refuseConnected(tx, region, 'simulated', 'real')
  await sql.writeNetworkController(tx, region.id, controller)
}

/** To the same databases at another address, or to others, in which the reconcilers make everything again. */
export async function changeNetworkController(tx: Tx, region: RegionRow, controller: string): Promise<void> {
  if (!isNetworkController(controller)) throw invalid(`"${controller}" is no network controller: such as ssl:10.0.0.1`, 'networkController')
  if (region.network_controller === null) await refuseConnected(tx, region, 'simulated', 'real')
  await sql.writeNetworkController(tx, region.id, controller)
}

export async function joinSimulatedRegion(tx: Tx, region: RegionRow): Promise<void> {
  if (region.network_controller === null) return
  await refuseConnected(tx, region, 'real', 'simulated')
  await sql.writeNetworkController(tx, region.id, null)
}

/** Simulated and real machines have no network in common. */
async function refuseConnected(tx: Tx, region: RegionRow, has: string, wants: string): Promise<void> {
  const { vms, networks } = await sql.countConnected(tx, region.id)
  if (vms === 0 && networks === 0) return
  throw apiError(
    'in_use',
    `Region ${region.slug} has ${has} VMs or networks (${vms} and ${networks}), so no ${wants} host can join it: delete them first, or choose another region`,
  )
}

/** The range may exist from an earlier registration. */
async function keepRange(tx: Tx, now: Date, pool: Parameters<typeof addPool>[2]): Promise<void> {
  const wanted = parseCidr(pool.cidr)
  const own = (await listRanges(tx)).find(({ host_id, cidr }) => host_id === pool.hostId && wanted && cidr === formatCidr(wanted))
  if (!own) await addPool(tx, now, pool)
}

/** Deletes a host without resources. A host with resources keeps its row, so that its VMs can be adopted when it comes back. */
export async function removeHost(tx: Tx, now: Date, host: sql.HostRow): Promise<'forgotten' | 'kept'> {
  if (host.fenced_at !== null && host.lost_at === null)
    throw apiError(
      'in_use',
      `Host ${host.name} is fenced: it is cleaned when it returns. If it never does: npx berthd host recover ${host.name} --destroyed`,
    )
  const { vms, networks, backups, volumes, leaving, unfenced } = await sql.countHostResources(tx, host.id)
  if (leaving > 0)
    throw apiError(
      'busy',
      `${leaving === 1 ? '1 VM is' : `${leaving} VMs are`} being migrated to host ${host.name}, or restored elsewhere and ${leaving === 1 ? 'returns' : 'return'} to it if that fails: try again when that has ended`,
    )
  if (vms > 0 || networks > 0 || backups > 0 || volumes > 0 || unfenced > 0) {
    await sql.markRemoved(tx, now, host.id)
    return 'kept'
  }
  await releaseImageRoomsOf(tx, host.id)
  await forgetPortsOfHost(tx, host.id)
  await dropPoolsOf(tx, host.id)
  await sql.deleteHost(tx, host.id)
  return 'forgotten'
}

export const { countHostResources } = sql

/** The reconciler that keeps shared machines off dedicated CPUs. */
export const APPLY_CPUS = 'vms.apply_cpus'

interface HostChange {
  maintenance?: boolean
  /** Of vCPUs. */
  overcommit?: number
  ramOvercommit?: number
  /** Those of the operator, in place of the ones there were. */
  traits?: string[]
  /** In place of the ones there were. */
  dedicatedCpus?: number[]
  /** In percent of the disk. */
  diskReserve?: number
  uplinkMbps?: number
  capacity?: { vcpu: number; ramMiB: number; diskGiB: number }
}

export async function changeHost(
  tx: Tx,
  host: sql.HostRow,
  { maintenance, overcommit, ramOvercommit, traits, dedicatedCpus, diskReserve, uplinkMbps, capacity }: HostChange,
): Promise<sql.HostRow> {
  if (uplinkMbps !== undefined && !(Number.isInteger(uplinkMbps) && uplinkMbps >= 1 && uplinkMbps <= 1_000_000))
    throw invalid('the link speed must be from 1 to 1000000 Mbit/s', 'uplinkMbps')
  if (overcommit !== undefined && !(overcommit >= 1 && overcommit <= 100)) throw invalid('overcommit must be from 1 to 100', 'overcommit')
  if (ramOvercommit !== undefined && !(ramOvercommit >= 1 && ramOvercommit <= 10))
    throw invalid('ramOvercommit must be from 1 to 10', 'ramOvercommit')
  if (diskReserve !== undefined && !(Number.isInteger(diskReserve) && diskReserve >= 0 && diskReserve <= 90))
    throw invalid('diskReserve must be a whole number from 0 to 90', 'diskReserve')
  if (maintenance === false && (await sql.drainedHosts(tx)).has(host.id))
    throw apiError('busy', `Host ${host.name} is being drained: npx berthd host drain ${host.name} --cancel ends that`)
  if (maintenance === false && host.fenced_at !== null)
    throw apiError(
      'busy',
      host.unreachable_since === null
        ? `Host ${host.name} has returned and is being cleaned: try again in a minute (npx berthd doctor hosts says what keeps it)`
        : `Host ${host.name} is fenced: it is cleaned when it answers again, and can take VMs after that`,
    )
  if (capacity) await sql.writeCapacity(tx, host.id, capacity)
  if (diskReserve !== undefined) await sql.writeDiskReserve(tx, host.id, diskReserve)
  if (uplinkMbps !== undefined) await sql.writeUplink(tx, host.id, uplinkMbps)
  if (maintenance !== undefined) await sql.writeMaintenance(tx, host.id, maintenance)
  if (overcommit !== undefined || ramOvercommit !== undefined)
    await sql.writeOvercommit(tx, {
      id: host.id,
      vcpu_overcommit: overcommit ?? host.vcpu_overcommit,
      ram_overcommit: ramOvercommit ?? host.ram_overcommit,
    })
  if (traits !== undefined) await changeTraits(tx, host, traits)
  if (dedicatedCpus !== undefined) await changeDedicatedCpus(tx, host.id, dedicatedCpus)
  return (await sql.findHost(tx, host.id))!
}

/** What Berth finds out by itself. Names of architectures cannot be listed: an underscore is not allowed in own ones. */
const MEASURED = ['10g', 'dedicated-cpu', 'kvm', 'emulation', 'replicated-storage', 'aarch64']

async function changeTraits(tx: Tx, host: sql.HostRow, traits: string[]): Promise<void> {
  const measured = traits.find((trait) => MEASURED.includes(trait) || trait.includes('_'))
  if (measured !== undefined)
    throw invalid(`"${measured}" is measured: a trait of your own has another name, without underscores`, 'traits')
  await sql.writeTraits(tx, host.id, checkedTraits(traits))
}

async function changeDedicatedCpus(tx: Tx, hostId: string, cpus: number[]): Promise<void> {
  const host = await sql.lockHost(tx, hostId) // nobody pins meanwhile
  const pinned = await pinnedCpus(tx, hostId)
  const objection = objectionTo(host, cpus, pinned)
  if (objection !== null) throw invalid(`Host ${host.name}: ${objection}`, 'dedicatedCpus')
  await sql.writeDedicatedCpus(tx, hostId, cpus)
  await triggerReconciler(tx, APPLY_CPUS)
}

/** Ranges that no other host may use. */
export const rangesInUse = async (db: Queries): Promise<string[]> => (await listRanges(db)).map(({ cidr }) => cidr)
