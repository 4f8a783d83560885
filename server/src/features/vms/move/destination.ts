// Whether a VM may leave its host, and for which.
import type { Queries, Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import { catalogNumbers, getRegion, getTemplateById, lockTemplateUse } from '../../catalog/service.ts'
import { imageNeedsOf, reserveCapacityInRegion, type Size } from '../../hosts/capacity.ts'
import { findUnservedAddress } from '../../hosts/public-addresses.ts'
import { getHost, guestNeed, listHostsIn, type HostRow, type Need } from '../../hosts/service.ts'
import { ruleForVm } from '../../placement-groups/service.ts'
import { speedBought } from '../billing/pricing.ts'
import { requireAllowed } from '../model/allowed-actions.ts'
import { holdIsoOf } from '../model/iso.ts'
import * as sql from '../model/sql.ts'
import { hasStaleMachine } from '../model/stale-machines.ts'

/** Whether it may leave its host at all; returns that. Whether it is idle is up to the caller. */
export async function requireMovable(db: Queries, vm: sql.VmDetails): Promise<HostRow> {
  requireAllowed(vm, 'migrate')
  if (vm.status !== 'SUSPENDED' && (vm.account_suspended || vm.pending_hold === 'SUSPEND' || vm.pending_hold === 'UNPAID'))
    throw apiError('busy', 'VM is being suspended: it can be moved after that')
  const source = await getHost(db, vm.host_id!)
  if (source.unreachable_since !== null) throw apiError('unavailable', `Host ${source.name} is unreachable: nothing can be moved from it`)
  if (source.fenced_at !== null)
    throw apiError('unavailable', `Host ${source.name} is fenced: it is cleaned before anything is moved from it`)
  if (await hasStaleMachine(db, vm.id, source.id))
    throw apiError('busy', `The machine of this VM on ${source.name} is put right first: try again in a few minutes`)
  requireReachableByPeers(source)
  const address = await findUnservedAddress(db, vm, { ...source, id: '' })
  if (address !== null)
    throw apiError('incompatible', `${address} is an address of ${source.name} alone, so VM would lose it on any other host`)
  const { snapshots, volumes } = await sql.countLocalFiles(db, vm.id)
  if (snapshots > 0)
    throw apiError(
      'in_use',
      `VM has ${snapshots === 1 ? 'a snapshot, which is a file on its host and does not move: ask its owner to delete it, or to make a backup instead' : `${snapshots} snapshots, which are files on its host and do not move: ask its owner to delete them, or to make backups instead`}`,
    )
  if (volumes.length > 0)
    throw apiError('in_use', `VM has volumes on its host, which do not move: ${volumes.join(', ')}. Ask its owner to detach them`)
  return source
}

function requireReachableByPeers({ driver, uri, name }: HostRow): void {
  if (driver === 'libvirt' && !uri.startsWith('qemu+tls:'))
    throw apiError(
      'incompatible',
      `Host ${name} is known as ${uri}, where other hosts do not reach it: add it by its address, with a certificate`,
    )
}

interface SizeThere extends Pick<sql.VmSize, 'planId' | 'networkMbps'> {
  /** What it takes of the host. */
  size: Size
  traits: string[]
}

interface DestinationNeed extends SizeThere {
  /** By id or name; undefined: the host with most room. */
  to?: string | undefined
  avoid: ReadonlySet<string>
}

export async function needOf(tx: Tx, vm: sql.VmDetails, { size, traits, ...speed }: SizeThere): Promise<Need> {
  return {
    ...size,
    ...guestNeed(await getTemplateById(tx, vm.os_template_id)),
    images: (await imageNeedsOf(tx, [vm.id])).get(vm.id) ?? [],
    traits,
    network10g: vm.network_10g,
    boughtMbps: speedBought(await catalogNumbers(tx), speed),
    publicIpv4: vm.public_ipv4,
    rule: await ruleForVm(tx, vm.id),
  }
}

/** Hosts to which the VM could move, full or not. */
export async function possibleDestinations(db: Queries, vm: sql.VmDetails, source: HostRow): Promise<Set<string>> {
  const possible = new Set<string>()
  for (const host of await listHostsIn(db, vm.region_id)) if (!(await objection(db, vm, source, host))) possible.add(host.id)
  return possible
}

/** The room of the VM there, of its image where its disk moves with it, and of its ISO image. */
export async function reserveDestination(
  tx: Tx,
  vm: sql.VmDetails,
  source: HostRow,
  { to, avoid, ...there }: DestinationNeed,
): Promise<HostRow> {
  const region = await getRegion(tx, vm.region_id)
  const possible = to === undefined ? await possibleDestinations(tx, vm, source) : new Set([await requireDestination(tx, vm, source, to)])
  if (possible.size === 0)
    throw apiError('no_capacity', `No other host of ${region.slug} can take this VM: name one as its destination to learn why not`)
  const template = await getTemplateById(tx, vm.os_template_id)
  await holdIsoOf(tx, vm.id)
  if (vm.storage_id === null && template.account_id !== null) await lockTemplateUse(tx, template.id) // its room there may be about to be released
  return reserveCapacityInRegion(tx, region, { ...(await needOf(tx, vm, there)), avoid }, possible)
}

async function requireDestination(db: Queries, vm: sql.VmDetails, source: HostRow, to: string): Promise<string> {
  const host = await getHost(db, to)
  const problem = await objection(db, vm, source, host)
  if (problem) throw problem
  return host.id
}

async function objection(db: Queries, vm: sql.VmDetails, source: HostRow, host: HostRow): Promise<Error | null> {
  try {
    requirePair(source, host)
  } catch (error) {
    return error as Error
  }
  if (await hasStaleMachine(db, vm.id, host.id))
    return apiError('busy', `${host.name} still has remains of this VM, which are removed first: try again in a minute`)
  return null
}

/** Whether machines of one host can move to the other. */
export function requirePair(source: HostRow, host: HostRow): void {
  const { name } = host
  if (host.id === source.id) throw apiError('invalid_state', `VM is on ${name} already`)
  if (host.region_id !== source.region_id) throw apiError('incompatible', `${name} is in another region than ${source.name}`)
  if (host.driver !== source.driver || host.arch !== source.arch || host.acceleration !== source.acceleration)
    throw apiError('incompatible', `${name} runs machines of another kind than ${source.name}`)
  requireReachableByPeers(host)
}
