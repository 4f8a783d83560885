// Makes networks on their hosts and takes deleted ones away. A row is claimed before its host is asked, so that making and removing one
// network never overlap, whichever processes do it.
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

/** False when the host had better be left alone for now. */
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
