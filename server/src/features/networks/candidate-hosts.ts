// Candidate hosts of a network. A node is given by its own id or its region's; for a region the least used reachable host comes first.
import type { Queries } from '../../kernel/database/db.ts'
import { notFound } from '../../kernel/errors.ts'
import { findRegion, getRegion, type RegionRow } from '../catalog/service.ts'
import { findHost, listHosts, type HostRow } from '../hosts/service.ts'

export interface Candidates {
  region: RegionRow
  hosts: HostRow[]
}

export async function candidateHosts(db: Queries, nodeId: string): Promise<Candidates> {
  const host = await findHost(db, nodeId)
  const region = host ? await getRegion(db, host.region_id) : await findRegion(db, nodeId)
  if (!region) throw notFound('Node')
  const hosts = host ? [host] : (await listHosts(db)).filter((each) => each.region_id === region.id)
  return { region, hosts: hosts.filter((each) => region.available && !each.maintenance).sort(byRoom) }
}

const byRoom = (a: HostRow, b: HostRow): number =>
  Number(a.unreachable_since !== null) - Number(b.unreachable_since !== null) || share(a) - share(b)

const share = (host: HostRow): number => host.ram_used_mib / host.ram_total_mib
