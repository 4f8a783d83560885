import type { Config } from '../../config.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { CatalogHost } from '../catalog/seed.ts'
import { getRegion } from '../catalog/service.ts'
import type { Node } from './schema.ts'
import * as sql from './sql.ts'

export * from './host-call.ts'
export * from './registration.ts'
export { syncDriverPool } from './driver-pool-sync.ts'
export { supportsArch } from './placement.ts'
export type { HostRow } from './sql.ts'
export { addPool, listPools, overlapsPool, type PoolRow } from './public-addresses.ts'

export const listHosts = sql.listHosts
export const findHost = sql.findHost

const SETTLING_MS = 30_000

/** Whether the host answers. One that has just come back is given time to find its own machines again. */
export const isStable = ({ unreachable_since, reachable_since }: sql.HostRow, now: Date): boolean =>
  unreachable_since === null && (reachable_since === null || now.getTime() - reachable_since.getTime() >= SETTLING_MS)

/** Longer than a reboot of a host takes. */
const LOST_AFTER_MS = 5 * 60_000

/** Whether a host is lost as far as anybody can tell, so that its VMs may be brought back elsewhere, or deleted without it. */
export async function isHostLost(db: Queries, hostId: string, now: Date): Promise<boolean> {
  const { unreachable_since, removed_at } = await getHost(db, hostId)
  return removed_at === null && unreachable_since !== null && now.getTime() - unreachable_since.getTime() >= LOST_AFTER_MS
}

export async function getHost(db: Queries, idOrName: string): Promise<sql.HostRow> {
  const row = await sql.findHost(db, idOrName)
  if (!row) throw notFound('Host')
  return row
}

/** The public API's view of a region's hosts. */
export async function listNodes(db: Queries, regionId: string): Promise<Node[]> {
  const region = await getRegion(db, regionId)
  const hosts = await sql.listHostsIn(db, region.id)
  return hosts.map(({ id, name, maintenance }) => ({ id, name, available: region.available && !maintenance }))
}

/** Hosts named by the catalog file that are not known yet. This machine itself (`auto`) is one of them only while it is simulated: a real
 *  one is registered with what it has, once it is prepared. */
export async function seedHosts(tx: Tx, now: Date, hosts: CatalogHost[], hypervisor: Config['hypervisor']): Promise<void> {
  for (const host of hosts) {
    if (host.driver === 'auto' && hypervisor !== 'simulated') continue
    const region = await getRegion(tx, host.region)
    await sql.insertHost(tx, {
      id: newId(),
      region_id: region.id,
      name: host.name,
      driver: host.driver === 'auto' ? 'simulated' : host.driver,
      uri: host.uri || `simulated:///?vcpu=${host.vcpu}&ramMiB=${host.ram}&diskGiB=${host.disk}`,
      vcpu_total: host.vcpu,
      ram_total_mib: host.ram,
      disk_total_gib: host.disk,
      created_at: now,
    })
  }
}
