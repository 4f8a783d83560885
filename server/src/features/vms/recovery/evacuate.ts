// Evacuation: a VM on a lost host gets a placement on another host, with a new public address, because the old machine may still run.
// When the lost host comes back, its stale machine is purged. Private networks exist on one host and are lost with it: evacuation
// detaches them, rollback attaches them again.
import type { Tx } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import type { EventDeps } from '../../deps.ts'
import { getRegion, getTemplate } from '../../catalog/service.ts'
import { resumeFilter, createFilterState } from '../../firewalls/service.ts'
import { releaseCapacity } from '../../hosts/capacity.ts'
import { reclaimPublicIp, releasePublicIp } from '../../hosts/public-addresses.ts'
import { findHost } from '../../hosts/service.ts'
import { attachmentsOf, type PreviousAddress, reclaimAddresses, releaseAllAddresses } from '../../networks/service.ts'
import { recordVmEvent } from '../model/events.ts'
import { notifyMacChanged, notifyResized } from '../model/hooks.ts'
import { getVmRow } from '../model/machine-spec.ts'
import { allocatePlacement, type Placement, type PreviousPlacement, releasePlacement, sizeOf } from '../model/placement.ts'
import { setPlacement, type VmDetails } from '../model/sql.ts'
import { recordStaleMachine, recordStaleNics } from '../model/stale-machines.ts'

export interface Move {
  runId: string
  templateId: string
  /** The owner accepts that the VM is restored without its private networks. */
  withoutNetworks?: boolean
}

/**
 * The capacity on the lost host stays reserved until the evacuation completes: the disk there may be the only good copy, so a rollback
 * must fit. No other VM could use that capacity anyway: the host is unreachable, and when it returns the old machine occupies it.
 */
export async function evacuateVm(tx: Tx, deps: EventDeps, vm: VmDetails, move: Move): Promise<PreviousPlacement> {
  const now = deps.clock.now()
  const { runId, templateId, withoutNetworks = false } = move
  const networks = await detachLostNetworks(tx, vm.id, withoutNetworks)
  const { arch } = await getTemplate(tx, templateId)
  const place = await allocatePlacement(tx, now, await getRegion(tx, vm.region_id), sizeOf(vm), {
    hostId: null,
    arch,
    network10g: false,
    boughtMbps: 0,
  })
  await releasePublicIp(tx, now, { address: vm.ip_address!, poolId: vm.address_pool_id! }, '24h') // the old machine may still answer at this address
  await assignToHost(tx, deps, vm, place)
  await recordNetworkEvents(tx, deps, vm.id, 'vm.network_detached', networks, runId)
  return { host_id: vm.host_id!, ip_address: vm.ip_address!, address_pool_id: vm.address_pool_id!, mac: vm.mac!, networks }
}

async function assignToHost(tx: Tx, deps: EventDeps, vm: VmDetails, place: Placement & { host_id: string }): Promise<void> {
  await setPlacement(tx, deps.clock.now(), vm.id, place)
  await createFilterState(tx, vm.id, place.host_id, vm.account_id)
  await notifyMacChanged(tx, deps, vm.id, vm.mac!)
}

export interface FailedMove {
  runId: string
  /** Purging the VM from the target host failed. */
  cleanupFailed: boolean
}

/**
 * Places the VM back on the host of its old disk, reachable or not: only that disk has the writes since the backup. Its capacity is still
 * reserved, and the cooldown of its public address is longer than a restore's deadline. Returns false when the host was removed, and the
 * disk with it (`berthd host remove` waits for restores): the VM then stays on the target host. Locks networks before capacity, like a
 * create.
 */
export async function rollBackEvacuation(
  tx: Tx,
  deps: EventDeps,
  vmId: string,
  before: PreviousPlacement,
  end: FailedMove,
): Promise<boolean> {
  if (!(await findHost(tx, before.host_id))) {
    await resumeFilter(tx, vmId) // the run may have failed before it applied the filter on the target host
    return false
  }
  const now = deps.clock.now()
  const vm = await getVmRow(tx, vmId)
  const { back, lost } = await reattachNetworks(tx, vm, before)
  await recordStaleNics(tx, vmId, before.host_id, lost)
  await reclaimPublicIp(tx, { address: before.ip_address, poolId: before.address_pool_id })
  await releasePlacement(tx, now, vm, end.cleanupFailed)
  if (end.cleanupFailed) await recordStaleMachine(tx, now, vmId, vm.host_id!)
  await assignToHost(tx, deps, vm, before)
  await resumeFilter(tx, vmId)
  await notifyResized(tx, deps, vmId) // the old machine missed changes made during the evacuation
  await recordNetworkEvents(tx, deps, vmId, 'vm.network_attached', back, end.runId)
  return true
}

/** Releases the capacity on the lost host. A removed host has nothing to purge. */
export async function completeEvacuation(tx: Tx, now: Date, vmId: string, { host_id }: PreviousPlacement): Promise<void> {
  await releaseCapacity(tx, host_id, sizeOf(await getVmRow(tx, vmId)))
  await recordStaleMachine(tx, now, vmId, host_id)
}

async function detachLostNetworks(tx: Tx, vmId: string, withoutNetworks: boolean): Promise<PreviousAddress[]> {
  const held = (await attachmentsOf(tx, vmId)).map(({ network_id, mac, address }) => ({ network_id, mac, address }))
  if (held.length > 0 && !withoutNetworks)
    throw apiError(
      'networks_lost',
      'The host of this VM is lost, and its private networks with it: send withoutNetworks: true to bring the VM back without them',
    )
  await releaseAllAddresses(tx, vmId)
  return held
}

interface Returned {
  back: PreviousAddress[]
  /** Attachments whose network was deleted or whose address was allocated to another VM in the meantime. */
  lost: PreviousAddress[]
}

async function reattachNetworks(
  tx: Tx,
  vm: { id: string; account_id: string },
  { networks = [] }: Pick<PreviousPlacement, 'networks'>,
): Promise<Returned> {
  const back = await reclaimAddresses(tx, vm.account_id, vm.id, networks)
  return { back, lost: networks.filter((each) => !back.includes(each)) }
}

async function recordNetworkEvents(
  tx: Tx,
  deps: EventDeps,
  vmId: string,
  type: 'vm.network_attached' | 'vm.network_detached',
  networks: PreviousAddress[],
  actionId: string,
): Promise<void> {
  for (const { network_id: id } of networks) await recordVmEvent(tx, deps, vmId, type, { actionId, reason: 'host' }, { network: { id } })
}
