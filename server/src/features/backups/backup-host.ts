// Selects the host that stores a backup: not the VM's own host if there is another, so that one host failure cannot lose both.
import type { Tx } from '../../kernel/database/db.ts'
import { getHost, hasDiskRoom, listHosts, type HostRow } from '../hosts/service.ts'
import type { BackupRow } from './sql.ts'

/** Reachable hosts with room, best first: same region, able to run the VM, most free disk. The VM's own host comes last. */
export function rankBackupHosts(hosts: HostRow[], own: HostRow, gib: number): HostRow[] {
  const isUsable = (host: HostRow): boolean =>
    host.id !== own.id && host.driver === own.driver && !host.maintenance && host.unreachable_since === null && hasDiskRoom(host, gib)
  const merit = (host: HostRow): number =>
    (host.region_id === own.region_id ? 4 : 0) + (host.arch === own.arch ? 2 : 0) - host.disk_used_gib / host.disk_total_gib
  return [...hosts.filter(isUsable).toSorted((a, b) => merit(b) - merit(a)), own]
}

export interface Target {
  hostId: string
  parentId: string | null
}

/**
 * All backups of a chain are on one host. A chain is not continued on the VM's own host once another host is available, nor on a host
 * where the last attempt failed; the next host then gets a full backup.
 */
export async function chooseBackupHost(
  tx: Tx,
  { hostId: vmHostId, gib }: { hostId: string; gib: number },
  parent: BackupRow | null,
  failures: number,
): Promise<Target> {
  const targets = rankBackupHosts(await listHosts(tx), await getHost(tx, vmHostId), gib)
  const holder = failures === 0 && targets.find(({ id }) => id === parent?.host_id)
  if (parent && holder && (holder.id !== vmHostId || targets.length === 1)) return { hostId: holder.id, parentId: parent.id }
  return { hostId: targets[failures % targets.length]!.id, parentId: null }
}
