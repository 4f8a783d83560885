// Maps a VM row to the driver's spec. Of customer text only the data that the guest needs reaches the host.
import type { Arch, Driver, IsoRef, MachineSpec, NicSpec, RescueSystem, TemplateRef } from '../../../hypervisor/driver.ts'
import { sql, type Queries, type Sql } from '../../../kernel/database/db.ts'
import { parseIpRange } from '../../../kernel/ip-range.ts'
import { getTemplateById } from '../../catalog/service.ts'
import type { Deps } from '../../deps.ts'
import { getPool, type PoolRow } from '../../hosts/public-addresses.ts'
import { cpuSetOf } from '../../hosts/service.ts'
import { attachmentsOf, type Attachment } from '../../networks/service.ts'
import { keysOf } from '../../ssh-keys/service.ts'
import { volumesOnMachine } from '../../storage/service.ts'
import { findIso, toIsoRef } from './iso.ts'
import { findRescue } from './rescue.ts'
import { vmById, type VmDetails } from './sql.ts'
import { openUserData } from './user-data.ts'

export async function getVmRow(db: Queries, vmId: string): Promise<VmDetails> {
  const vm = await vmById(db, vmId)
  if (!vm) throw new Error(`BUG: VM ${vmId} is gone while an action works on it`)
  return vm
}

export function driverForVm({ hypervisors }: Pick<Deps, 'hypervisors'>, vm: Pick<VmDetails, 'id' | 'host_id'>): Promise<Driver> {
  if (vm.host_id === null) throw new Error(`BUG: VM ${vm.id} has no host`)
  return hypervisors.get(vm.host_id)
}

export const driverForVmId = async (deps: Pick<Deps, 'db' | 'hypervisors'>, vmId: string): Promise<Driver> =>
  driverForVm(deps, await getVmRow(deps.db, vmId))

export async function machineSpec(
  { db, vault }: Pick<Deps, 'db' | 'vault'>,
  vm: VmDetails,
  passwordHash: string | null = null,
): Promise<MachineSpec> {
  const userData = await openUserData({ db, vault }, vm)
  const [keys, attachments] = [await keysOf(db, vm.id), await attachmentsOf(db, vm.id)]
  const volumes = await volumesOnMachine(db, vm.id, vm.host_id)
  const wayOut = vm.ip_address === null ? attachments.find(({ way_out }) => way_out !== null) : undefined
  return {
    vmId: vm.id,
    uuid: vm.uuid,
    accountId: vm.account_id,
    generation: vm.generation,
    vcpu: vm.vcpu,
    cpus: vm.host_id === null ? null : await cpuSetOf(db, vm.host_id, vm.id, vm.dedicated_cpu),
    ramMiB: vm.ram_mib,
    diskGiB: vm.disk_gib,
    diskLimits: { iops: vm.disk_iops, miBPerSecond: vm.disk_mib_per_second },
    storageId: vm.storage_id,
    template: await templateRef(db, vm.os_template_id),
    seed: {
      hostname: vm.hostname,
      user: vm.default_user,
      sshKeys: keys.map((key) => key.public_key),
      passwordHash,
      ...(userData && { userData }),
    },
    ...(vm.in_rescue && { rescue: await rescueSystem(db, vm.id) }),
    ...(vm.has_iso && { iso: await isoRef(db, vm.id) }),
    nics: [await publicNic(db, vm), ...attachments.map((each) => privateNic(each, each === wayOut))],
    volumes: volumes.map(({ id, generation, size_gib, storage_id }) => ({
      volumeId: id,
      generation,
      sizeGiB: size_gib,
      storageId: storage_id,
    })),
  }
}

async function rescueSystem(db: Queries, vmId: string): Promise<RescueSystem | undefined> {
  const row = await findRescue(db, vmId)
  return row?.started_at ? { generation: row.generation, template: await templateRef(db, row.template_id) } : undefined
}

async function isoRef(db: Queries, vmId: string): Promise<IsoRef | undefined> {
  const row = await findIso(db, vmId)
  return row?.attached_at ? toIsoRef(row) : undefined
}

/** Of a VM with dedicated CPUs more may be reserved than this size has vCPUs. */
export function withSize(
  spec: MachineSpec,
  size: Partial<Pick<MachineSpec, 'vcpu' | 'ramMiB' | 'diskGiB' | 'diskLimits' | 'rescue' | 'iso'>>,
): MachineSpec {
  const sized = { ...spec, ...size }
  const isDedicated = spec.cpus !== null && spec.cpus.numaNode !== null
  return isDedicated ? { ...sized, cpus: { ...spec.cpus!, cpus: spec.cpus!.cpus.slice(0, sized.vcpu) } } : sized
}

export async function templateRef(db: Queries, templateId: string): Promise<TemplateRef> {
  const { id, slug, checksum, arch, firmware, tpm, has_agent } = await getTemplateById(db, templateId)
  return { id, slug, checksum, arch: arch as Arch, firmware, tpm, hasAgent: has_agent }
}

/** The current speed of the public interface: throttled, 10G, or the plan's. */
export const speedLimit = (vm: Pick<VmDetails, 'throttled_at' | 'throttle_mbps' | 'network_10g' | 'network_mbps'>): number =>
  vm.throttled_at ? vm.throttle_mbps : vm.network_10g ? 10_000 : vm.network_mbps

/** The same in a statement, of the row of `vms` with this alias. */
export const currentSpeed = (vm: Sql): Sql =>
  sql`case when ${vm}.throttled_at is not null then ${vm}.throttle_mbps when ${vm}.network_10g then 10000 else ${vm}.network_mbps end`

async function publicNic(db: Queries, vm: VmDetails): Promise<NicSpec> {
  if (!vm.mac) throw new Error(`BUG: VM ${vm.id} has no place`)
  const pool = vm.address_pool_id === null ? null : await getPool(db, vm.address_pool_id)
  const pool6 = vm.ipv6_pool_id === null ? null : await getPool(db, vm.ipv6_pool_id)
  const onLink = (of: PoolRow) => ({ prefix: parseIpRange(of.cidr)!.prefix, gateway: of.gateway })
  return {
    mac: vm.mac,
    kind: 'public',
    networkId: null,
    ipv4: pool && { address: vm.ip_address!, ...onLink(pool) },
    ipv6: pool6 && { address: vm.ipv6_address!, ...onLink(pool6) },
    dns: (pool ?? pool6)?.dns ?? [],
  }
}

/** Only the public interface has the default route; without a public IPv4 address, the first network with SNAT. */
export const privateNic = ({ mac, network_id, address, prefix, way_out }: Attachment, isWayOut = false): NicSpec => ({
  mac,
  kind: 'private',
  networkId: network_id,
  ipv4: { address, prefix, gateway: isWayOut ? way_out : null },
  ipv6: null,
  dns: [],
})
