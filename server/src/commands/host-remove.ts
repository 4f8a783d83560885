// `berthd host remove`: a host leaves the fleet. Its VMs are never forgotten with it: they are moved or deleted first, or left behind
// knowingly, and can then be adopted when the host is added again.
import { belongingsOf, getHost, removeHost } from '../features/hosts/service.ts'
import { sql } from '../kernel/db.ts'
import { apiError } from '../kernel/errors.ts'
import type { Admin } from './admin.ts'
import { withCore } from './core.ts'
import type { Result } from './output.ts'

export async function remove(admin: Admin, { unmanage = false }: { unmanage?: boolean }, name?: string): Promise<Result> {
  const { db, now } = admin
  const host = await getHost(db, name!)
  const { vms, networks, backups } = await belongingsOf(db, host.id)
  if ((vms > 0 || networks > 0 || backups > 0) && !unmanage) {
    throw apiError(
      'in_use',
      `Host ${host.name} has ${vms} VMs, ${networks} private networks and ${backups} backups. Delete them first, or leave them as they are with --unmanage: VMs run on, unbilled`,
    )
  }
  const { unmanage: leave } = await import('../features/vms/service.ts')
  const outcome = await withCore(admin, (deps) =>
    deps.db.tx(async (tx) => {
      const managed = await tx.many<{ id: string }>(
        sql`select id from vms where host_id = ${host.id} and status <> 'UNMANAGED' order by id`,
      )
      for (const { id } of managed) await leave(tx, deps, id)
      return removeHost(tx, now, host)
    }),
  )
  const text =
    outcome === 'forgotten'
      ? `Host ${host.name} is gone`
      : `Host ${host.name} has left the fleet; ${vms} VMs stay on it, unmanaged. Adding it again under this name brings them back`
  return { data: { id: host.id, name: host.name, outcome, vms }, text }
}
