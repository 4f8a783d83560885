// Creates networks in their regions and removes deleted ones. A row is claimed before the call, so that creating and removing one network
// never overlap, across all processes. Round robin by account, so that nobody's changes delay those of others.
import { addDuration } from '../../kernel/clock.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callController, CLAIM, isUnreachable, retryDelay } from '../hosts/service.ts'
import { APPLY, networkSpec, type NetworkRow } from './service.ts'
import * as sql from './sql.ts'

export const applyNetworks = keyedReconciler(APPLY, '5s', {
  busy: async ({ db, clock }) => (await sql.regionsWithPending(db, clock.now())).map((row) => row.region_id),
  runOnce: applyInRegion,
})

async function applyInRegion(deps: Deps, regionId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock } = deps
  let turns: string[] = []
  while (!stopping.aborted) {
    const now = clock.now()
    const row = await sql.claimPending(db, regionId, turns, now, addDuration(now, CLAIM))
    if (row) turns = [...turns.filter((each) => each !== row.account_id), row.account_id]
    if (!row || !(await applyOne(deps, row, stopping))) return
  }
}

/** False when no further call should be made to this controller for now. */
async function applyOne(deps: Deps, row: NetworkRow, stopping: AbortSignal): Promise<boolean> {
  const { db, clock } = deps
  const error = await callController(deps, row.region_id, stopping, async (controller, signal) =>
    row.deleted_at ? controller.ensureNoNetwork(row.id, signal) : controller.ensureNetwork(await networkSpec(db, row), signal),
  )
  if (error) await sql.postpone(db, row, stopping.aborted ? clock.now() : addDuration(clock.now(), retryDelay(error)))
  else if (row.deleted_at) await sql.removeDeleted(db, row.id)
  else if (!(await sql.markApplied(db, row))) await sql.markUnapplied(db, row.id)
  return !error || !isUnreachable(error)
}
