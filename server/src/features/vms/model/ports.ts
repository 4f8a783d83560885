// The ports of a VM's interfaces, built from the database, and the calls that make and remove them. Without its port an interface neither
// sends nor receives, so ports precede the machine and outlast it.
import type { NetworkController, PortOptions, PortSpec } from '../../../hypervisor/network-controller.ts'
import type { Filter } from '../../../hypervisor/spec.ts'
import type { Queries } from '../../../kernel/database/db.ts'
import { apiError } from '../../../kernel/errors.ts'
import type { Deps } from '../../deps.ts'
import { filtersOfVms } from '../../firewalls/service.ts'
import { floatingAddressesOf, floatingAddressesOfVms } from '../../hosts/public-addresses.ts'
import { getHost, publicNetworkSpec } from '../../hosts/service.ts'
import { attachmentsOf, ensureAttachedNetworks, requireNetwork, type Attachment } from '../../networks/service.ts'
import { desiredVersions } from '../../ports/service.ts'
import { speedLimit } from './machine-spec.ts'
import { findDestinations, type VmDetails } from './sql.ts'

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

/** The public interface first. It shares the VM's limit with what private ones send out of networks with SNAT. `sourceOnly`: on its host alone, also
 *  while a migration is undone. */
export const portSpecs = async (db: Queries, vm: PlacedVm, options?: { sourceOnly?: boolean }): Promise<PortSpec[]> =>
  (await portSpecsOf(db, [vm], options)).get(vm.id)!

/** By the ids of the VMs: with as many statements as for one. */
export async function portSpecsOf(db: Queries, vms: readonly PlacedVm[], { sourceOnly = false } = {}): Promise<Map<string, PortSpec[]>> {
  const ids = vms.map(({ id }) => id)
  const versions = await desiredVersions(db, ids) // before the rest, which is then at least as new
  const hostIds = new Set(vms.flatMap(({ host_id }) => host_id ?? []))
  const [placedOn, filtersOf, attached, floating, moving] = await Promise.all([
    Promise.all(Array.from(hostIds, (hostId) => getHost(db, hostId))),
    filtersOfVms(db, ids),
    attachmentsOf(db, ids),
    floatingAddressesOfVms(db, ids),
    sourceOnly ? [] : findDestinations(db, ids),
  ])
  const hosts = new Map<string | null, string>(placedOn.map(({ id, hostname }) => [id, hostname]))
  const attachmentsByVm = Map.groupBy(attached, (row) => row.vm_id)
  const destinations = new Map(moving.map((row) => [row.vm_id, row.hostname]))
  const specsOf = (vm: PlacedVm): PortSpec[] => {
    const host = hosts.get(vm.host_id)
    if (host === undefined || !vm.mac) throw new Error(`BUG: VM ${vm.id} has no place`)
    const { ofPublic, ofPrivate } = filtersOf(vm.id)
    const attachments = attachmentsByVm.get(vm.id) ?? []
    const version = versions.get(vm.id) ?? 0
    const open = {
      vmId: vm.id,
      mac: vm.mac,
      networkId: null,
      addresses: [...publicAddresses(vm), ...floating.filter((row) => row.vm_id === vm.id).map((row) => row.address)],
      ranges: vm.ipv6_prefix === null ? [] : [vm.ipv6_prefix],
      host,
      limitMbps: speedLimit(vm),
      limitedWith: attachments.flatMap(({ mac, network_id, way_out }) => (way_out === null ? [] : [{ mac, networkId: network_id }])),
      filter: ofPublic,
      version,
    }
    const all = [open, ...attachments.map((attachment) => ({ ...privatePort(attachment, host, ofPrivate), version }))]
    return all.map((port) => ({ ...port, destination: destinations.get(vm.id) ?? null }))
  }
  return new Map(vms.map((vm) => [vm.id, specsOf(vm)]))
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
  vm: Pick<VmDetails, 'id' | 'account_id' | 'name' | 'ip_address' | 'ipv6_address'>,
  networkId: string | null,
): Promise<string[]> {
  if (networkId === null) return [...publicAddresses(vm), ...(await floatingAddressesOf(db, vm.id))]
  return [(await requireAttachment(db, vm, networkId)).address]
}

export async function requireAttachment(
  db: Queries,
  { id, account_id, name }: Pick<VmDetails, 'id' | 'account_id' | 'name'>,
  networkId: string,
): Promise<Attachment> {
  const attachment = (await attachmentsOf(db, id)).find((each) => each.network_id === networkId)
  if (attachment) return attachment
  const network = await requireNetwork(db, account_id, networkId)
  throw apiError('not_found', `${name} is not in the network ${network.name}`)
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

export async function ensurePorts(
  deps: Callers,
  vm: PlacedVm,
  signal: AbortSignal,
  options: { sourceOnly?: boolean } & PortOptions = {},
): Promise<void> {
  const controller = await controllerForVm(deps, vm)
  await ensureEach(controller, await portSpecs(deps.db, vm, options), signal, options)
}

export async function ensureEach(
  controller: NetworkController,
  ports: readonly PortSpec[],
  signal: AbortSignal,
  { unconfirmed = false }: PortOptions = {},
): Promise<void> {
  for (const port of ports) await controller.ensurePort(port, signal, { unconfirmed })
}

export async function ensureNoPorts(deps: Callers, vm: PlacedVm, signal: AbortSignal): Promise<void> {
  const controller = await controllerForVm(deps, vm)
  const macs = [vm.mac ?? [], ...(await attachmentsOf(deps.db, vm.id)).map(({ mac }) => mac)].flat()
  for (const mac of macs) await controller.ensureNoPort(mac, signal)
}
