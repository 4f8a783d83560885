// A filter that somebody removed on the host by hand is put back.
import { sql, type Queries } from '../../kernel/db.ts'
import { nudge } from '../../workflow/reconcile.ts'
import { lanedReconciler, type Deps } from '../deps.ts'
import { askHost, listHosts } from '../hosts/service.ts'
import { APPLY } from './filters.ts'

export const watchFilters = lanedReconciler('firewalls.drift', '45s', {
  busy: async ({ db }) => (await listHosts(db)).filter((host) => host.unreachable_since === null).map((host) => host.id),
  pass: compareHost,
})

async function compareHost(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const { db, log } = deps
  const present: string[] = []
  const error = await askHost(deps, hostId, stopping, async (driver, signal) => {
    for await (const { vmId } of driver.listFilters(signal)) present.push(vmId)
  })
  if (error) return
  const missing = await markMissing(db, hostId, present)
  if (missing.length === 0) return
  log.warn({ hostId, vmIds: missing.map((row) => row.vm_id) }, 'filters were missing on a host: they are put back')
  await nudge(db, APPLY)
}

const markMissing = (db: Queries, hostId: string, present: string[]) =>
  db.many<{ vm_id: string }>(sql`
    update vm_filters set applied = null
    where host_id = ${hostId} and is_live and applied is not null and vm_id <> all(${present}::text[]) returning vm_id`)
