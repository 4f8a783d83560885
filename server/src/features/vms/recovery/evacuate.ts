// Evacuation: a VM on a lost host gets a placement on another host, with new public addresses, because the old machine may still run.
// Its private interfaces keep their networks, addresses and MACs: their ports move to the new host, so the old machine loses them. When the
// lost host comes back, its stale machine is purged. Of a host that was declared destroyed nothing can run or come back: the VM keeps its
// MAC, its volumes in storage backends, and each public address that its new host serves.
import type { Tx } from '../../../kernel/database/db.ts'
import type { EventDeps } from '../../deps.ts'
import { getRegion, getTemplateById } from '../../catalog/service.ts'
import { releaseCapacity } from '../../hosts/capacity.ts'
import { findHost, getHost } from '../../hosts/service.ts'
import { createPortState, resumePorts } from '../../ports/service.ts'
import { leaveVolumes, moveVolumes } from '../../storage/service.ts'
import type { FetchedCopy } from '../model/restore-room.ts'
import { notifyMacChanged, notifyResized } from '../model/hooks.ts'
import { getVmRow } from '../model/machine-spec.ts'
import {
  addressesLeft,
  allocatePlacement,
  type Placement,
  type PreviousPlacement,
  reallocatePlacement,
  reclaimAddresses,
  releaseAddresses,
  releasePlacement,
  sizeOf,
} from '../model/placement.ts'
import { recordVmEvent } from '../model/events.ts'
import { findIso, releaseIso } from '../model/iso.ts'
import { releaseRescue } from '../model/rescue.ts'
import { setPlacement, type VmDetails } from '../model/sql.ts'
import { recordStaleMachine } from '../model/stale-machines.ts'
import { wishesOf } from './wishes.ts'

/**
 * The capacity on the lost host stays reserved until the evacuation completes: the disk there may be the only good copy, so a rollback
 * must fit. No other VM could use that capacity anyway: the host is unreachable, and when it returns the old machine occupies it.
 */
export async function evacuateVm(
  tx: Tx,
  deps: EventDeps,
  vm: VmDetails,
  { templateId, copy, among }: { templateId: string; copy: FetchedCopy; among: ReadonlySet<string> | undefined },
): Promise<PreviousPlacement> {
  const now = deps.clock.now()
  const template = await getTemplateById(tx, templateId)
  if (vm.storage !== 'LOCAL') throw new Error(`BUG: VM ${vm.id} has no backup to be restored from`)
  const wasInRescue = await endRescueElsewhere(tx, deps, vm.id)
  const hadIso = await detachIsoElsewhere(tx, deps, vm.id)
  const region = await getRegion(tx, vm.region_id)
  const wishes = await wishesOf(tx, vm, template)
  if ((await getHost(tx, vm.host_id!)).lost_at !== null) {
    const place = await reallocatePlacement(tx, now, region, vm, wishes, copy, among)
    await moveVolumes(tx, now, vm.id, vm.host_id!, place.host_id)
    await assignToHost(tx, deps, vm, place)
  } else {
    const place = await allocatePlacement(tx, now, region, sizeOf(vm), { storage: vm.storage, ...wishes }, copy)
    await releaseAddresses(tx, now, vm, true)
    await assignToHost(tx, deps, vm, place)
  }
  const { ip_address, address_pool_id, ipv6_address, ipv6_prefix, ipv6_pool_id } = vm
  const addresses = { ip_address, address_pool_id, ipv6_address, ipv6_prefix, ipv6_pool_id }
  return {
    host_id: vm.host_id!,
    storage_id: null,
    mac: vm.mac!,
    ...addresses,
    ...(wasInRescue && { wasInRescue }),
    ...(hadIso && { hadIso }),
  }
}

async function assignToHost(tx: Tx, deps: EventDeps, vm: VmDetails, place: Placement & { host_id: string }): Promise<void> {
  await setPlacement(tx, deps.clock.now(), vm.id, place)
  await createPortState(tx, vm.id, place.host_id, vm.account_id)
  if (place.mac !== vm.mac) await notifyMacChanged(tx, deps, vm.id, { mac: vm.mac!, hostId: vm.host_id! })
}

/**
 * Places the VM back on the host of its old disk, reachable or not: only that disk has the writes since the backup. Its capacity is still
 * reserved, and the cooldown of its public addresses is longer than a restore's deadline. Returns false when the disk is gone: with a host
 * that was removed (`berthd host remove` waits for restores) the VM then stays on the target host; with one that was declared destroyed it
 * waits there for the next try. `cleanupFailed`: purging it from the target host failed.
 */
export async function rollBackEvacuation(
  tx: Tx,
  deps: EventDeps,
  vmId: string,
  before: PreviousPlacement,
  cleanupFailed: boolean,
): Promise<boolean> {
  const host = await findHost(tx, before.host_id)
  if (!host) {
    await resumePorts(tx, vmId) // the run may have failed before it applied the ports on the target host
    await leaveVolumes(tx, deps.clock.now(), vmId, before.host_id)
    return false
  }
  const now = deps.clock.now()
  const vm = await getVmRow(tx, vmId)
  await reclaimAddresses(tx, addressesLeft(before, vm))
  await releasePlacement(tx, now, { ...vm, ...addressesLeft(vm, before) }, cleanupFailed)
  if (cleanupFailed) await recordStaleMachine(tx, now, vmId, vm.host_id!, host.lost_at !== null) // it had the volumes too
  await moveVolumes(tx, now, vmId, vm.host_id!, before.host_id)
  await assignToHost(tx, deps, vm, before)
  if (host.lost_at !== null) return false
  await resumePorts(tx, vmId)
  // Until it starts from its own disk again.
  if (before.wasInRescue || before.hadIso) await recordStaleMachine(tx, now, vmId, before.host_id)
  await notifyResized(tx, deps, vmId) // the old machine missed changes made during the evacuation
  return true
}

/** The disk of its rescue system stays where it was, with the host, or in the storage backend until the VM runs from its own. */
export async function endRescueElsewhere(tx: Tx, deps: EventDeps, vmId: string): Promise<boolean> {
  if (!(await releaseRescue(tx, vmId))) return false
  await recordVmEvent(tx, deps, vmId, 'vm.rescue_ended', { reason: 'host' })
  return true
}

/** It starts from its own disk there, at once: an installer on the image could begin anew. */
export async function detachIsoElsewhere(tx: Tx, deps: EventDeps, vmId: string): Promise<boolean> {
  const iso = await findIso(tx, vmId)
  if (!iso) return false
  await releaseIso(tx, vmId)
  if (iso.attached_at === null) return false
  await recordVmEvent(tx, deps, vmId, 'vm.iso_detached', { reason: 'host' }, { iso: { imageId: iso.image_id, name: iso.name } })
  return true
}

/** Releases the capacity on the lost host, and detaches the volumes that its machine may still write to. A removed host has nothing to purge. */
export async function completeEvacuation(tx: Tx, now: Date, vmId: string, { host_id }: PreviousPlacement): Promise<void> {
  await leaveVolumes(tx, now, vmId, host_id)
  await releaseCapacity(tx, host_id, sizeOf(await getVmRow(tx, vmId)))
  await recordStaleMachine(tx, now, vmId, host_id)
}
