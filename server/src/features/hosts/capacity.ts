// Host capacity, reserved and released in the caller's transaction by one conditional statement each.
import { sql, type Tx } from '../../kernel/database/db.ts'
import { apiError } from '../../kernel/errors.ts'
import type { RegionRow } from '../catalog/service.ts'
import { noCapacity, rankHosts, type Need } from './placement.ts'
import { listHostsIn, type HostRow } from './sql.ts'

export type Size = Pick<Need, 'vcpu' | 'ramMiB' | 'diskGiB'>

/** Reserves capacity on the best host; when a concurrent caller has filled it in the meantime, tries the next one. */
export async function reserveCapacityInRegion(tx: Tx, region: RegionRow, need: Need): Promise<HostRow> {
  const hosts = await listHostsIn(tx, region.id)
  const { fitting, rejected } = rankHosts(hosts, need)
  for (const host of fitting) {
    if (await reserveCapacity(tx, host.id, need)) return host
    rejected.set('full', (rejected.get('full') ?? 0) + 1)
  }
  throw apiError('no_capacity', noCapacity(region.slug, need, hosts.length, rejected))
}

/** False when the host has too little capacity left. */
export const reserveCapacity = async (tx: Tx, hostId: string, size: Size): Promise<boolean> =>
  (await tx.run(sql`
    update hosts set vcpu_used = vcpu_used + ${size.vcpu}, ram_used_mib = ram_used_mib + ${size.ramMiB}, disk_used_gib = disk_used_gib + ${size.diskGiB}
    where id = ${hostId} and vcpu_used + ${size.vcpu} <= vcpu_total * vcpu_overcommit
      and ram_used_mib + ${size.ramMiB} <= ram_total_mib and disk_used_gib + ${size.diskGiB} <= disk_total_gib`)) > 0

export const releaseCapacity = (tx: Tx, hostId: string, size: Size) =>
  tx.run(sql`
    update hosts set vcpu_used = vcpu_used - ${size.vcpu}, ram_used_mib = ram_used_mib - ${size.ramMiB}, disk_used_gib = disk_used_gib - ${size.diskGiB}
    where id = ${hostId}`)
