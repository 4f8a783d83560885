// Placement of a VM: capacity on a host, a public address, a MAC. All three are reserved and released in one transaction.
import type { Tx } from '../../../kernel/database/db.ts'
import { releaseQuotas, reserveQuotas } from '../../accounts/service.ts'
import type { RegionRow } from '../../catalog/service.ts'
import { releasePublicIp, allocatePublicIp } from '../../hosts/public-addresses.ts'
import { releaseCapacity, reserveCapacityInRegion, type Size } from '../../hosts/capacity.ts'
import { randomMac } from '../../networks/service.ts'
import type { VmRow } from './sql.ts'

export type Placement = Pick<VmRow, 'host_id' | 'ip_address' | 'address_pool_id' | 'mac'>

/** The placement before the host was lost. JSON-compatible: stored in the workflow journal. */
export type PreviousPlacement = { [K in keyof Placement]: string }

export async function allocatePlacement(
  tx: Tx,
  now: Date,
  region: RegionRow,
  size: Size,
  where: { arch: string; network10g: boolean; boughtMbps: number },
): Promise<Placement & { host_id: string }> {
  const host = await reserveCapacityInRegion(tx, region, { ...size, ...where })
  const { address, poolId } = await allocatePublicIp(tx, now, host, region.slug)
  return { host_id: host.id, ip_address: address, address_pool_id: poolId, mac: randomMac() }
}

/** `left`: the machine may still run on an unreachable host, so its address is not allocated again for a day. */
export async function releasePlacement(tx: Tx, now: Date, vm: VmRow, left = false): Promise<void> {
  if (vm.host_id === null || vm.ip_address === null || vm.address_pool_id === null) return
  await releaseCapacity(tx, vm.host_id, sizeOf(vm))
  await releasePublicIp(tx, now, { address: vm.ip_address, poolId: vm.address_pool_id }, left ? '24h' : '10m')
}

export const sizeOf = (vm: Pick<VmRow, 'vcpu' | 'ram_mib' | 'disk_gib'>): Size => ({
  vcpu: vm.vcpu,
  ramMiB: vm.ram_mib,
  diskGiB: vm.disk_gib,
})

export const reserveVmQuotas = (tx: Tx, accountId: string, size: Size, vms: bigint): Promise<void> =>
  reserveQuotas(tx, accountId, quotasOf(size, vms))

export const releaseVmQuotas = (tx: Tx, accountId: string, size: Size, vms: bigint): Promise<void> =>
  releaseQuotas(tx, accountId, quotasOf(size, vms))

/** The fixed key order is the lock order: concurrent transactions of one account queue instead of deadlocking. */
const quotasOf = (size: Size, vms: bigint): Record<string, bigint> => ({
  ...(vms > 0n && { vms }),
  vcpu: BigInt(size.vcpu),
  ram_mib: BigInt(size.ramMiB),
  disk_gib: BigInt(size.diskGiB),
})
