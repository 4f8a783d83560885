// Private networks live on one host and are lost with it. A VM that is brought back elsewhere lets go of them; when that fails they are its
// own again.
import { sql, type Tx } from '../../kernel/db.ts'
import { apiError } from '../../kernel/errors.ts'
import { attachmentsOf, releaseAllAddresses, reclaimAddresses, type PreviousAddress } from '../networks/service.ts'
import { recordVmEvent } from './events.ts'
import type { PreviousPlacement } from './move.ts'

export async function detachLostNetworks(tx: Tx, vmId: string, withoutNetworks: boolean): Promise<PreviousAddress[]> {
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
  /** Their networks were deleted meanwhile, or their addresses given to others. */
  lost: PreviousAddress[]
}

export async function reattachNetworks(
  tx: Tx,
  vm: { id: string; account_id: string },
  { networks = [] }: Pick<PreviousPlacement, 'networks'>,
): Promise<Returned> {
  const back = await reclaimAddresses(tx, vm.account_id, vm.id, networks)
  return { back, lost: networks.filter((each) => !back.includes(each)) }
}

/** What the machine still has of them is unplugged when its host answers. */
export async function recordStaleNics(tx: Tx, vmId: string, hostId: string, lost: Pick<PreviousAddress, 'mac'>[]): Promise<void> {
  for (const { mac } of lost)
    await tx.run(sql`insert into left_nics (host_id, vm_id, mac) values (${hostId}, ${vmId}, ${mac}) on conflict do nothing`)
}

export async function recordNetworkEvents(
  tx: Tx,
  now: Date,
  vmId: string,
  type: 'vm.network_attached' | 'vm.network_detached',
  networks: PreviousAddress[],
  actionId: string,
): Promise<void> {
  for (const { network_id: id } of networks) await recordVmEvent(tx, now, vmId, type, { actionId, reason: 'host' }, { network: { id } })
}
