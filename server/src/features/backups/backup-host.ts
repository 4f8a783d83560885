// Which host keeps a backup: another one than the VM's own where there is one, so that losing a host does not lose both.
import type { Tx } from '../../kernel/database/db.ts'
import { getHost, listHosts, type HostRow } from '../hosts/service.ts'
import type { BackupRow } from './sql.ts'

/** Others that answer, best first: in the same region, able to run the VM, and empty. The VM's own host comes last. */
export function rankBackupHosts(hosts: HostRow[], own: HostRow): HostRow[] {
  const isUsable = (host: HostRow): boolean =>
    host.id !== own.id && host.driver === own.driver && !host.maintenance && host.unreachable_since === null
  const merit = (host: HostRow): number =>
    (host.region_id === own.region_id ? 4 : 0) + (host.arch === own.arch ? 2 : 0) - host.disk_used_gib / host.disk_total_gib
  return [...hosts.filter(isUsable).toSorted((a, b) => merit(b) - merit(a)), own]
}

export interface Target {
  hostId: string
  parentId: string | null
}

/** A chain lies on one host. It is not gone on with on the VM's own host once there is another, nor where the last try failed: the next
 *  host is tried then, with a full backup. */
export async function chooseBackupHost(tx: Tx, vmHostId: string, parent: BackupRow | null, failures: number): Promise<Target> {
  const targets = rankBackupHosts(await listHosts(tx), await getHost(tx, vmHostId))
  const holder = failures === 0 && targets.find(({ id }) => id === parent?.host_id)
  if (parent && holder && (holder.id !== vmHostId || targets.length === 1)) return { hostId: holder.id, parentId: parent.id }
  return { hostId: targets[failures % targets.length]!.id, parentId: null }
}
