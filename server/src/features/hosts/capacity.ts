// Host capacity, reserved and released in the caller's transaction by one conditional statement each.
import { sql, type Sql, type Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import type { RegionRow } from '../catalog/service.ts'
import { hostsWithIpv6 } from './ipv6-ranges.ts'
import { noCapacity, rankHosts, type Need } from './placement.ts'
import { listHostsIn, type HostRow } from './sql.ts'

export type Size = Pick<Need, 'vcpu' | 'ramMiB' | 'diskGiB'>

/** Reserves capacity on the best host; when a concurrent caller has filled it in the meantime, tries the next one. */
export async function reserveCapacityInRegion(tx: Tx, region: RegionRow, need: Need): Promise<HostRow> {
  const hosts = (await listHostsIn(tx, region.id)).filter((host) => isConnected(region, host))
  const { fitting, rejected } = rankHosts(hosts, need, need.publicIpv4 ? undefined : await hostsWithIpv6(tx, region.id))
  for (const host of fitting) {
    if (await reserveCapacity(tx, host.id, need)) return host
    rejected.set('full', (rejected.get('full') ?? 0) + 1)
  }
  throw apiError('no_capacity', noCapacity(region.slug, need, hosts.length, rejected))
}

/** The network controller of a region connects either simulated hosts or real ones. */
const isConnected = (region: RegionRow, host: HostRow): boolean => (region.network_controller === null) === (host.driver === 'simulated')

/** False when the host has too little capacity left. */
export const reserveCapacity = async (tx: Tx, hostId: string, size: Size): Promise<boolean> =>
  (await tx.run(sql`
    update hosts set vcpu_used = vcpu_used + ${size.vcpu}, ram_used_mib = ram_used_mib + ${size.ramMiB}, disk_used_gib = disk_used_gib + ${size.diskGiB}
    where id = ${hostId} and vcpu_used + ${size.vcpu} <= vcpu_total * vcpu_overcommit
      and ram_used_mib + ${size.ramMiB} <= ram_total_mib and (${size.diskGiB} <= 0 or ${hasDiskRoom(size.diskGiB)})`)) > 0

/** The same rule as in placement.ts: below the reserve, booked or measured, nothing new is written. */
const hasDiskRoom = (gib: number): Sql => sql`
  disk_used_gib + ${gib} <= disk_total_gib - disk_reserve_gib and coalesce(disk_free_gib, disk_total_gib) >= disk_reserve_gib`

export const releaseCapacity = (tx: Tx, hostId: string, size: Size) =>
  tx.run(sql`
    update hosts set vcpu_used = vcpu_used - ${size.vcpu}, ram_used_mib = ram_used_mib - ${size.ramMiB}, disk_used_gib = disk_used_gib - ${size.diskGiB}
    where id = ${hostId}`)

/** Room for a copy on each of the hosts. False when one has too little: the transaction must then be rolled back. */
export const reserveDisk = async (tx: Tx, hostIds: string[], gib: number): Promise<boolean> =>
  (await tx.run(sql`
    update hosts h set disk_used_gib = disk_used_gib + ${gib}
    from (select id from hosts where id = any(${hostIds}::text[]) order by id for no key update) held
    where h.id = held.id and ${hasDiskRoom(gib)}`)) === new Set(hostIds).size

export async function releaseDisk(tx: Tx, gibByHost: Map<string, number>): Promise<void> {
  if (gibByHost.size === 0) return
  const [ids, sizes] = [[...gibByHost.keys()], [...gibByHost.values()]]
  await tx.run(sql`
    update hosts h set disk_used_gib = disk_used_gib - less.gib
    from (select id from hosts where id = any(${ids}::text[]) order by id for no key update) held,
      unnest(${ids}::text[], ${sizes}::int[]) as less(id, gib)
    where h.id = held.id and less.id = held.id`)
}

interface Capacity {
  used: number
  total: number
}

/** Sold and sellable, in the units of a VM's size. */
export const toCapacity = (row: HostRow): { vcpu: Capacity; ramMiB: Capacity; diskGiB: Capacity } => ({
  vcpu: { used: row.vcpu_used, total: Math.floor(row.vcpu_total * row.vcpu_overcommit) },
  ramMiB: { used: row.ram_used_mib, total: row.ram_total_mib },
  diskGiB: { used: row.disk_used_gib, total: row.disk_total_gib },
})
