// Detects packet filters that were removed manually on a host, and reapplies them.
import { findMissingIds } from '../../kernel/database/missing-ids.ts'
import { sql, type Queries } from '../../kernel/database/db.ts'
import { triggerReconciler } from '../../workflow/reconciler-loop.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost, listHosts } from '../hosts/service.ts'
import { APPLY } from './filter-state.ts'

export const watchFilters = keyedReconciler('firewalls.drift', '45s', {
  busy: async ({ db }) => (await listHosts(db)).filter((host) => host.unreachable_since === null).map((host) => host.id),
  runOnce: compareHost,
})

async function compareHost(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const { db, log } = deps
  const present = new Set<string>()
  const error = await callHost(deps, hostId, stopping, async (driver, signal) => {
    for await (const { vmId } of driver.listFilters(signal)) present.add(vmId)
  })
  if (error) return
  const missing = await markMissing(db, hostId, present)
  if (missing.length === 0) return
  log.warn({ hostId, vmIds: missing }, 'packet filters missing on host; reapplying')
  await triggerReconciler(db, APPLY)
}

const APPLIED = sql`is_managed and applied_version is not null`

const appliedAfter = (db: Queries, hostId: string, after: string, limit: number) =>
  db.many<{ id: string }>(sql`
    select vm_id as id from vm_filters where host_id = ${hostId} and ${APPLIED} and vm_id > ${after} order by vm_id limit ${limit}`)

async function markMissing(db: Queries, hostId: string, present: ReadonlySet<string>): Promise<string[]> {
  const missing: { vm_id: string }[] = []
  for await (const absent of findMissingIds(present, (after, limit) => appliedAfter(db, hostId, after, limit)))
    missing.push(
      ...(await db.many<{ vm_id: string }>(sql`
        update vm_filters set applied_version = null where host_id = ${hostId} and ${APPLIED} and vm_id = any(${absent}::text[]) returning vm_id`)),
    )
  return missing.map((row) => row.vm_id)
}
