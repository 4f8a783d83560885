import { isSilent, listHostsAndDestroyed, lostSince, pathsOf, type HostPath, type HostRow } from '../../features/hosts/service.ts'
import { findFence, listWaitingRecoveries } from '../../features/recovery/service.ts'
import { counted } from '../../kernel/counted.ts'
import type { Queries } from '../../kernel/database/db.ts'
import { ok, warning } from './check.ts'
import { databaseCheck } from './database.ts'

/** As the workers know them. */
export const hosts = databaseCheck('hosts', async (db) => {
  const rows = await listHostsAndDestroyed(db)
  const paths = await pathsOf(db, rows)
  const problems = (await Promise.all(rows.map((host) => problemOf(db, host, paths.get(host.id)!)))).flat()
  const waiting = await listWaitingRecoveries(db)
  if (waiting.length > 0)
    problems.push(`${counted(waiting.length, 'VM')} of lost hosts not started on others yet: npx berthd host recoveries`)
  if (problems.length > 0)
    return warning(
      `hosts: ${problems.join('; ')}`,
      'see docs/operate/runbooks.md, "Host unreachable", "A host is lost, its VMs are on Ceph" and "A host is lost"',
    )
  return ok(`hosts: ${rows.length} answer`)
})

async function problemOf(db: Queries, host: HostRow, paths: HostPath[]): Promise<string[]> {
  if (host.lost_at)
    return [`${host.name} was declared destroyed, and not all of it is recovered: npx berthd host recover ${host.name} --destroyed`]
  const fence = await findFence(db, host.id)
  const state = host.fenced_at
    ? `${host.name} is fenced${host.unreachable_since ? '' : ', has returned and is cleaned'}`
    : fence
      ? `${host.name} is to be fenced`
      : null
  if (state !== null) return [fence?.error ? `${state}: ${fence.error}` : state]
  if (host.unreachable_since === null)
    return host.power_url !== null && host.power_system_uuid === null
      ? [`the power controller of ${host.name} was never compared with it, and switches nothing off: repeat npx berthd host set-power`]
      : []
  return [`${host.name} is ${lostSince(paths) ? 'lost' : 'unreachable'} (${paths.map(describe).join(', ')})`]
}

const describe = (path: HostPath): string =>
  `${path.path.toLowerCase()} ${path.problem ?? (isSilent(path) ? `silent since ${path.silentSince!.toISOString()}` : 'heard')}`
