// Creates networks on their hosts and removes deleted ones. A row is claimed before the host call, so that creating and removing one
// network never overlap, across all processes.
import { addDuration } from '../../kernel/clock.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost, CLAIM, isUnreachable, retryDelay } from '../hosts/service.ts'
import { APPLY, networkSpec, type NetworkRow } from './service.ts'
import * as sql from './sql.ts'

export const applyNetworks = keyedReconciler(APPLY, '5s', {
  busy: async ({ db, clock }) => (await sql.hostsWithPending(db, clock.now())).map((row) => row.host_id),
  runOnce: applyOnHost,
})

async function applyOnHost(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock } = deps
  while (!stopping.aborted) {
    const now = clock.now()
    const row = await sql.claimPending(db, hostId, now, addDuration(now, CLAIM))
    if (!row || !(await applyOne(deps, row, stopping))) return
  }
}

/** False when no further call should be made to this host for now. */
async function applyOne(deps: Deps, row: NetworkRow, stopping: AbortSignal): Promise<boolean> {
  const { db, clock } = deps
  const error = await callHost(deps, row.host_id, stopping, (driver, signal) =>
    row.deleted_at ? driver.ensureNoNetwork(row.id, signal) : driver.ensureNetwork(networkSpec(row), signal),
  )
  if (error) await sql.postpone(db, row, stopping.aborted ? clock.now() : addDuration(clock.now(), retryDelay(error)))
  else if (row.deleted_at) await sql.removeDeleted(db, row.id)
  else await sql.markApplied(db, row)
  return !error || !isUnreachable(error)
}
