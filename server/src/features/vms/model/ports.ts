// The ports of a VM's interfaces, built from the database, and the calls that make and remove them. Without its port an interface neither
// sends nor receives, so ports precede the machine and outlast it.
import type { NetworkController, PortSpec } from '../../../hypervisor/network-controller.ts'
import type { Filter } from '../../../hypervisor/spec.ts'
import type { Queries } from '../../../kernel/database/db.ts'
import { notFound } from '../../../kernel/errors.ts'
import type { Deps } from '../../deps.ts'
import { filtersOf } from '../../firewalls/service.ts'
import { floatingAddressesOf } from '../../hosts/public-addresses.ts'
import { getHost, publicNetworkSpec } from '../../hosts/service.ts'
import { attachmentsOf, ensureAttachedNetworks, type Attachment } from '../../networks/service.ts'
import { desiredVersion } from '../../ports/service.ts'
import { speedLimit } from './machine-spec.ts'
import { findDestination, type VmDetails } from './sql.ts'

type PlacedVm = Pick<
  VmDetails,
  | 'id'
  | 'region_id'
  | 'host_id'
  | 'mac'
  | 'ip_address'
  | 'ipv6_address'
  | 'ipv6_prefix'
  | 'throttled_at'
  | 'throttle_mbps'
  | 'network_10g'
  | 'network_mbps'
>

export const isPlaced = ({ host_id, mac }: Pick<PlacedVm, 'host_id' | 'mac'>): boolean => host_id !== null && mac !== null

const publicAddresses = ({ ip_address, ipv6_address }: Pick<PlacedVm, 'ip_address' | 'ipv6_address'>): string[] =>
  [ip_address, ipv6_address].filter((each) => each !== null)

/** The public interface first. It shares the VM's limit with what private ones send out of networks with SNAT. `isSettled`: on its host alone, also
 *  while a migration is undone. */
export async function portSpecs(db: Queries, vm: PlacedVm, { isSettled = false } = {}): Promise<PortSpec[]> {
  if (!vm.host_id || !vm.mac) throw new Error(`BUG: VM ${vm.id} has no place`)
  const version = await desiredVersion(db, vm.id) // before the rest, which is then at least as new
  const { hostname: host } = await getHost(db, vm.host_id)
  const destination = isSettled ? null : ((await findDestination(db, vm.id))?.hostname ?? null)
  const [{ ofPublic, ofPrivate }, attachments] = [await filtersOf(db, vm.id), await attachmentsOf(db, vm.id)]
  const open = {
    vmId: vm.id,
    mac: vm.mac,
    networkId: null,
    addresses: [...publicAddresses(vm), ...(await floatingAddressesOf(db, vm.id))],
    ranges: vm.ipv6_prefix === null ? [] : [vm.ipv6_prefix],
    host,
    limitMbps: speedLimit(vm),
    limitedWith: attachments.flatMap(({ mac, network_id, way_out }) => (way_out === null ? [] : [{ mac, networkId: network_id }])),
    filter: ofPublic,
    version,
  }
  const all = [open, ...attachments.map((attachment) => ({ ...privatePort(attachment, host, ofPrivate), version }))]
  return all.map((port) => ({ ...port, destination }))
}

const privatePort = ({ vm_id, mac, network_id, address, ranges }: Attachment, host: string, filter: Filter | null): PortSpec => ({
  vmId: vm_id,
  mac,
  networkId: network_id,
  addresses: [address],
  ranges,
  host,
  limitMbps: null,
  filter,
})

/** Of the interface in that network; of the public one for null. */
export async function addressesIn(
  db: Queries,
  vm: Pick<VmDetails, 'id' | 'ip_address' | 'ipv6_address'>,
  networkId: string | null,
): Promise<string[]> {
  if (networkId === null) return [...publicAddresses(vm), ...(await floatingAddressesOf(db, vm.id))]
  const attachment = (await attachmentsOf(db, vm.id)).find((each) => each.network_id === networkId)
  if (!attachment) throw notFound('Network')
  return [attachment.address]
}

type Callers = Pick<Deps, 'db' | 'config' | 'networkControllers'>

export const controllerForVm = ({ networkControllers }: Pick<Deps, 'networkControllers'>, vm: PlacedVm): Promise<NetworkController> =>
  networkControllers.get(vm.region_id)

/** What its ports are in: the public network, and its private ones. */
export async function ensureNetworks(deps: Callers, vm: PlacedVm, signal: AbortSignal): Promise<void> {
  const controller = await controllerForVm(deps, vm)
  await controller.ensurePublicNetwork(await publicNetworkSpec(deps, vm.region_id), signal)
  await ensureAttachedNetworks(deps.db, controller, vm.id, signal)
}

export async function ensurePorts(deps: Callers, vm: PlacedVm, signal: AbortSignal, options?: { isSettled: boolean }): Promise<void> {
  const controller = await controllerForVm(deps, vm)
  for (const port of await portSpecs(deps.db, vm, options)) await controller.ensurePort(port, signal)
}

export async function ensureNoPorts(deps: Callers, vm: PlacedVm, signal: AbortSignal): Promise<void> {
  const controller = await controllerForVm(deps, vm)
  const macs = [vm.mac ?? [], ...(await attachmentsOf(deps.db, vm.id)).map(({ mac }) => mac)].flat()
  for (const mac of macs) await controller.ensureNoPort(mac, signal)
}
