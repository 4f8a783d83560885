// A VM whose host is lost gets a place on another one, with another public address: nobody knows whether it still runs where it was. When
// the lost host comes back, what it still has of the VM is removed.
import { sql as query, type Queries, type Tx } from '../../kernel/db.ts'
import { getRegion, getTemplate } from '../catalog/service.ts'
import { resumeFilter, trackFilter } from '../firewalls/service.ts'
import { giveBackAddress, retakeAddress } from '../hosts/addresses.ts'
import { giveBackRoom } from '../hosts/capacity.ts'
import { findHost } from '../hosts/service.ts'
import type { HeldAddress } from '../networks/service.ts'
import { leaveNics, letGoOfNetworks, takeNetworksBack, tellOfNetworks } from './lost-networks.ts'
import { getVmRow } from './machine.ts'
import { giveBackPlace, sizeOf, takePlace, type Place } from './place.ts'
import { shapeChanged } from './shape.ts'
import type { VmDetails } from './sql.ts'

/** In JSON, because it waits in the journal. */
export type PlaceBefore = { [K in keyof Place]: string } & { networks?: HeldAddress[] }

type MacHook = (tx: Tx, now: Date, vmId: string, macBefore: string) => Promise<unknown>
const macHooks: MacHook[] = []

/** For what is kept by the address of a public interface, such as its traffic. Called in the transaction that gives the VM another one. */
export const onMacChange = (hook: MacHook): void => void macHooks.push(hook)

export interface Move {
  runId: string
  templateId: string
  /** Its owner agrees that it comes back without its private networks. */
  withoutNetworks?: boolean
}

/** Its room on the lost host stays taken until the VM is well elsewhere: its disk there may be the only good one, so that it has to fit
 *  there again when this fails. Nobody can use that room meanwhile, and should the host come back, its machine does. */
export async function moveFromLostHost(tx: Tx, now: Date, vm: VmDetails, move: Move): Promise<PlaceBefore> {
  const { runId, templateId, withoutNetworks = false } = move
  const networks = await letGoOfNetworks(tx, vm.id, withoutNetworks)
  const { arch } = await getTemplate(tx, templateId)
  const place = await takePlace(tx, now, await getRegion(tx, vm.region_id), sizeOf(vm), { hostId: null, arch })
  await giveBackAddress(tx, now, { address: vm.ip_address!, poolId: vm.address_pool_id! }, '24h') // something may still answer there
  await settleAt(tx, now, vm, place)
  await tellOfNetworks(tx, now, vm.id, 'vm.network_detached', networks, runId)
  return { host_id: vm.host_id!, ip_address: vm.ip_address!, address_pool_id: vm.address_pool_id!, mac: vm.mac!, networks }
}

async function settleAt(tx: Tx, now: Date, vm: VmDetails, place: Place & { host_id: string }): Promise<void> {
  await tx.run(query`
    update vms set host_id = ${place.host_id}, ip_address = ${place.ip_address}, address_pool_id = ${place.address_pool_id}, mac = ${place.mac},
      updated_at = ${now} where id = ${vm.id}`)
  await trackFilter(tx, vm.id, place.host_id, vm.account_id)
  for (const hook of macHooks) await hook(tx, now, vm.id, vm.mac!)
}

export interface FailedMove {
  runId: string
  /** Something of it could not be removed from the host where it should have come up. */
  stranded: boolean
}

/** The VM's home is where its old disk is, whether or not that host answers already: nothing else holds what it wrote since the backup.
 *  Its room waited for it, and its public address rests for longer than a restore may take. False when the host is gone for good, and the
 *  disk with it (`berthd host remove` waits for restores): then the VM stays where it should have come up. Networks are locked before room,
 *  as by whoever creates a VM. */
export async function returnPlace(tx: Tx, now: Date, vmId: string, before: PlaceBefore, end: FailedMove): Promise<boolean> {
  if (!(await findHost(tx, before.host_id))) return false
  const vm = await getVmRow(tx, vmId)
  const { back, lost } = await takeNetworksBack(tx, vm, before)
  await leaveNics(tx, vmId, before.host_id, lost)
  await retakeAddress(tx, { address: before.ip_address, poolId: before.address_pool_id })
  await giveBackPlace(tx, now, vm, end.stranded)
  if (end.stranded) await noteLeftMachine(tx, now, vmId, vm.host_id!)
  await settleAt(tx, now, vm, before)
  await resumeFilter(tx, vmId)
  await shapeChanged(tx, now, vmId) // its old machine did not hear of what was changed while it was away
  await tellOfNetworks(tx, now, vmId, 'vm.network_attached', back, end.runId)
  return true
}

/** A VM that is well elsewhere needs its room there no more. A host that is gone has nothing to remove. */
export async function leaveBehind(tx: Tx, now: Date, vmId: string, { host_id }: PlaceBefore): Promise<void> {
  await giveBackRoom(tx, host_id, sizeOf(await getVmRow(tx, vmId)))
  await noteLeftMachine(tx, now, vmId, host_id)
}

/** When its host answers it is removed, or made as the row says should the VM live there. */
export const noteLeftMachine = (tx: Tx, now: Date, vmId: string, hostId: string) =>
  tx.run(query`
    insert into left_machines (host_id, vm_id, left_at) select id, ${vmId}, ${now} from hosts where id = ${hostId} on conflict do nothing`)

export const forgetLeftMachine = (db: Queries, vmId: string, hostId: string) =>
  db.run(query`delete from left_machines where host_id = ${hostId} and vm_id = ${vmId}`)

/** The next time somebody tries to put it right. */
export const putOffLeftMachine = (tx: Tx, vmId: string, hostId: string, until: Date) =>
  tx.run(query`update left_machines set left_at = ${until} where host_id = ${hostId} and vm_id = ${vmId}`)
