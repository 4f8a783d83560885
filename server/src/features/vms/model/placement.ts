// Placement of a VM: capacity on a host, room in a storage backend where its plan has it, a public address, a MAC. All are reserved and
// released in one transaction; storage backends are locked before hosts.
import type { Tx } from '../../../kernel/database/db.ts'
import { releaseQuotas, reserveQuotas } from '../../accounts/service.ts'
import type { RegionRow } from '../../catalog/service.ts'
import { allocateIpv6, reclaimIpv6, releaseIpv6, type TakenRange } from '../../hosts/ipv6-ranges.ts'
import { allocatePublicIp, poolsFor, LEFT_REST, reclaimPublicIp, releasePublicIp, RELEASED_REST } from '../../hosts/public-addresses.ts'
import { releaseCapacity, reserveCapacitiesInRegion, reserveCapacityInRegion, type Size } from '../../hosts/capacity.ts'
import type { HostRow, Need } from '../../hosts/service.ts'
import { randomMac } from '../../networks/service.ts'
import { releaseStorage, reserveStorageInRegion } from '../../storage/service.ts'
import { recordCopyRoom, type FetchedCopy } from './restore-room.ts'
import type { VmRow } from './sql.ts'

type Ipv6Columns = Pick<VmRow, 'ipv6_address' | 'ipv6_prefix' | 'ipv6_pool_id'>

export type Placement = Pick<VmRow, 'host_id' | 'storage_id' | 'ip_address' | 'address_pool_id' | 'mac'> & Ipv6Columns

/** The placement before the host was lost. JSON-compatible: stored in the workflow journal, where an older release wrote nothing of IPv6 and of
 *  storage backends. */
export type PreviousPlacement = Placement & { host_id: string; mac: string; wasInRescue?: boolean; hadIso?: boolean }

/** Of volumes that a VM is made with: what they take of its host, and the only one that it can be on. */
export interface WithVolumes {
  gibOnHost?: number
  hostId?: string | undefined
}

export type Wishes = Pick<Need, 'arch' | 'guestTypes' | 'traits' | 'network10g' | 'boughtMbps' | 'isSpeedOptional' | 'publicIpv4' | 'rule'>

/** Of several VMs of one size, in one region, with one pool of replicated storage where they need it. */
export async function allocatePlacements(
  tx: Tx,
  now: Date,
  region: RegionRow,
  vms: readonly { size: Size; copy: FetchedCopy | undefined }[],
  { storage, gibOnHost = 0, ...where }: { storage: VmRow['storage'] } & Wishes & WithVolumes,
): Promise<(Placement & { host_id: string })[]> {
  const gib = vms.reduce((sum, { size }) => sum + size.diskGiB, 0)
  const backend = storage === 'LOCAL' ? null : await reserveStorageInRegion(tx, region, gib)
  const needs = vms.map(({ size, copy }) => ({
    ...size,
    ...where,
    diskGiB: (backend ? 0 : size.diskGiB) + gibOnHost,
    ...(copy && { copy }),
  }))
  const hosts = await reserveCapacitiesInRegion(tx, region, needs, async (host, index) => {
    const { copy } = vms[index]!
    if (copy) await recordCopyRoom(tx, host.id, copy)
  })
  const places: (Placement & { host_id: string })[] = []
  for (const host of hosts) places.push(await allocateAddresses(tx, now, region, host, backend?.id ?? null, where.publicIpv4))
  return places
}

async function allocateAddresses(
  tx: Tx,
  now: Date,
  region: RegionRow,
  host: HostRow,
  storageId: string | null,
  publicIpv4: boolean,
): Promise<Placement & { host_id: string }> {
  const pools = await poolsFor(tx, host)
  const ipv4 = publicIpv4 ? await allocatePublicIp(tx, now, pools, region.slug) : null
  const ipv6 = await allocateIpv6(tx, now, pools, region.slug)
  return {
    host_id: host.id,
    storage_id: storageId,
    ip_address: ipv4?.address ?? null,
    address_pool_id: ipv4?.poolId ?? null,
    mac: randomMac(),
    ...toIpv6Columns(ipv6),
  }
}

export async function allocatePlacement(
  tx: Tx,
  now: Date,
  region: RegionRow,
  size: Size,
  { storage, gibOnHost = 0, hostId, ...where }: { storage: VmRow['storage'] } & Wishes & WithVolumes,
  copy?: FetchedCopy,
): Promise<Placement & { host_id: string }> {
  const backend = storage === 'LOCAL' ? null : await reserveStorageInRegion(tx, region, size.diskGiB)
  const need = { ...size, ...where, diskGiB: (backend ? 0 : size.diskGiB) + gibOnHost, ...(copy && { copy }) }
  const host = await reserveCapacityInRegion(tx, region, need, hostId === undefined ? undefined : new Set([hostId]))
  if (copy) await recordCopyRoom(tx, host.id, copy)
  return allocateAddresses(tx, now, region, host, backend?.id ?? null, where.publicIpv4)
}

/** For a VM whose machine is gone for good, or fenced: it keeps its MAC, and each address that its new host serves too. */
export async function reallocatePlacement(
  tx: Tx,
  now: Date,
  region: RegionRow,
  vm: VmRow,
  where: Wishes,
  copy: FetchedCopy | undefined,
  among?: ReadonlySet<string>,
): Promise<Placement & { host_id: string }> {
  const need = { ...sizeOnHost(vm, sizeOf(vm)), ...where }
  const host = await reserveCapacityInRegion(tx, region, { ...need, ...(copy && { copy }) }, among)
  if (copy) await recordCopyRoom(tx, host.id, copy)
  const { ip_address, address_pool_id, ipv6_address, ipv6_prefix, ipv6_pool_id } = vm
  const pools = await poolsFor(tx, host)
  const isKept = (poolId: string | null): boolean => poolId === null || pools.some(({ id }) => id === poolId)
  const ipv4 = isKept(address_pool_id) ? null : await allocatePublicIp(tx, now, pools, region.slug)
  const columns = isKept(ipv6_pool_id)
    ? { ipv6_address, ipv6_prefix, ipv6_pool_id }
    : toIpv6Columns(await allocateIpv6(tx, now, pools, region.slug))
  const place = {
    host_id: host.id,
    storage_id: vm.storage_id,
    ip_address: ipv4?.address ?? ip_address,
    address_pool_id: ipv4?.poolId ?? address_pool_id,
    mac: vm.mac,
    ...columns,
  }
  await releaseAddresses(tx, now, addressesLeft(vm, place), true)
  return place
}

/** Of the first those that the second has not. */
export const addressesLeft = (before: Addresses, after: Addresses): Addresses => ({
  ...before,
  ip_address: before.ip_address === after.ip_address ? null : before.ip_address,
  ipv6_address: before.ipv6_address === after.ipv6_address ? null : before.ipv6_address,
})

export const toIpv6Columns = (ipv6: TakenRange | null): Ipv6Columns => ({
  ipv6_address: ipv6?.address ?? null,
  ipv6_prefix: ipv6?.prefix ?? null,
  ipv6_pool_id: ipv6?.poolId ?? null,
})

type Addresses = Pick<VmRow, 'ip_address' | 'address_pool_id' | 'ipv6_address' | 'ipv6_prefix'>

/** `left`: on an unreachable host. Then they rest for long, and count for nobody: their owner is not to blame for it. */
export async function releaseAddresses(
  tx: Tx,
  now: Date,
  vm: Addresses,
  left: boolean,
  vm_account_id: string | null = null,
): Promise<void> {
  const rest = left ? LEFT_REST : RELEASED_REST
  const taken = vm.ip_address !== null && { address: vm.ip_address, poolId: vm.address_pool_id! }
  if (taken) await releasePublicIp(tx, now, taken, rest, { vm_account_id: left ? null : vm_account_id })
  if (vm.ipv6_address) await releaseIpv6(tx, now, { address: vm.ipv6_address, prefix: vm.ipv6_prefix }, rest)
}

/** During their cooldown, for the VM that had them. */
export async function reclaimAddresses(tx: Tx, before: Addresses): Promise<void> {
  if (before.ip_address !== null) await reclaimPublicIp(tx, { address: before.ip_address, poolId: before.address_pool_id! })
  if (before.ipv6_address) await reclaimIpv6(tx, { address: before.ipv6_address, prefix: before.ipv6_prefix })
}

export async function releasePlacement(tx: Tx, now: Date, vm: VmRow, left = false): Promise<void> {
  if (vm.host_id === null && vm.shelved_at === null) return
  if (vm.storage_id !== null) await releaseStorage(tx, vm.storage_id, vm.disk_gib)
  if (vm.host_id !== null) await releaseCapacity(tx, vm.host_id, sizeOnHost(vm, sizeOf(vm)))
  await releaseAddresses(tx, now, vm, left, vm.account_id)
}

export const sizeOf = (vm: Pick<VmRow, 'id' | 'vcpu' | 'ram_mib' | 'disk_gib' | 'dedicated_cpu'>): Size => ({
  vcpu: vm.vcpu,
  ramMiB: vm.ram_mib,
  diskGiB: vm.disk_gib,
  ...(vm.dedicated_cpu && { dedicatedFor: vm.id }),
})

/** What a VM of this size takes of its host: a disk in a storage backend takes nothing. */
export const sizeOnHost = (vm: Pick<VmRow, 'storage_id'>, size: Size): Size => (vm.storage_id === null ? size : { ...size, diskGiB: 0 })

export const reserveVmQuotas = (tx: Tx, accountId: string, size: Size, vms: bigint): Promise<void> =>
  reserveQuotas(tx, accountId, quotasOf(size, vms))

export const releaseVmQuotas = (tx: Tx, accountId: string, size: Size, vms: bigint): Promise<void> =>
  releaseQuotas(tx, accountId, quotasOf(size, vms))

/** Of so many VMs. */
export const times = (size: Pick<Size, 'vcpu' | 'ramMiB' | 'diskGiB'>, count: number): Size => ({
  vcpu: size.vcpu * count,
  ramMiB: size.ramMiB * count,
  diskGiB: size.diskGiB * count,
})

/** The fixed key order is the lock order: concurrent transactions of one account queue instead of deadlocking. */
const quotasOf = (size: Size, vms: bigint): Record<string, bigint> => ({
  ...(vms > 0n && { vms }),
  vcpu: BigInt(size.vcpu),
  ram_mib: BigInt(size.ramMiB),
  disk_gib: BigInt(size.diskGiB),
})
