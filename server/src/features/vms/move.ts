// A VM whose host is lost gets a place on another one, with another public address: nobody knows whether it still runs where it was. When
// the lost host comes back, what it still has of the VM is removed.
import { sql as query, type Tx } from '../../kernel/db.ts'
import { getRegion, getTemplate } from '../catalog/service.ts'
import { resumeFilter, trackFilter } from '../firewalls/service.ts'
import { retakeAddress } from '../hosts/addresses.ts'
import { takeRoom } from '../hosts/capacity.ts'
import { releaseAllAddresses, type HeldAddress } from '../networks/service.ts'
import { letGoOfNetworks, takeNetworksBack, tellOfNetworks } from './lost-networks.ts'
import { getVmRow } from './machine.ts'
import { giveBackPlace, sizeOf, takePlace, type Place } from './place.ts'
import type { VmDetails } from './sql.ts'

/** In JSON, because it waits in the journal. */
export type PlaceBefore = { [K in keyof Place]: string } & { networks?: HeldAddress[] }

export interface Move {
  runId: string
  templateId: string
  /** Its owner agrees that it comes back without its private networks. */
  withoutNetworks?: boolean
}

export async function moveFromLostHost(tx: Tx, now: Date, vm: VmDetails, move: Move): Promise<PlaceBefore> {
  const { runId, templateId, withoutNetworks = false } = move
  const networks = await letGoOfNetworks(tx, vm.id, withoutNetworks)
  const { arch } = await getTemplate(tx, templateId)
  const place = await takePlace(tx, now, await getRegion(tx, vm.region_id), sizeOf(vm), { hostId: null, arch })
  await giveBackPlace(tx, now, vm, true)
  await settleAt(tx, now, vm, place)
  await tellOfNetworks(tx, now, vm.id, 'vm.network_detached', networks, runId)
  return { host_id: vm.host_id!, ip_address: vm.ip_address!, address_pool_id: vm.address_pool_id!, mac: vm.mac!, networks }
}

async function settleAt(tx: Tx, now: Date, vm: VmDetails, place: Place & { host_id: string }): Promise<void> {
  await tx.run(query`
    update vms set host_id = ${place.host_id}, ip_address = ${place.ip_address}, address_pool_id = ${place.address_pool_id}, mac = ${place.mac},
      updated_at = ${now} where id = ${vm.id}`)
  await tx.run(query`delete from left_machines where host_id = ${place.host_id} and vm_id = ${vm.id}`)
  await trackFilter(tx, vm.id, place.host_id, vm.account_id)
}

/** Nobody else has got its public address: it rests for longer than a restore may take. False when its room was given away after its host
 *  came back. Networks are locked before room, as by whoever creates a VM. */
export async function returnPlace(tx: Tx, now: Date, vmId: string, before: PlaceBefore, runId: string): Promise<boolean> {
  const vm = await getVmRow(tx, vmId)
  const networks = await takeNetworksBack(tx, vm, before)
  if (!(await takeRoom(tx, before.host_id, sizeOf(vm)))) {
    await releaseAllAddresses(tx, vmId)
    return false
  }
  await retakeAddress(tx, { address: before.ip_address, poolId: before.address_pool_id })
  await giveBackPlace(tx, now, vm)
  await settleAt(tx, now, vm, before)
  await resumeFilter(tx, vmId)
  await tellOfNetworks(tx, now, vmId, 'vm.network_attached', networks, runId)
  return true
}

export const leaveBehind = (tx: Tx, now: Date, vmId: string, { host_id }: PlaceBefore) =>
  tx.run(query`insert into left_machines (host_id, vm_id, left_at) values (${host_id}, ${vmId}, ${now}) on conflict do nothing`)
