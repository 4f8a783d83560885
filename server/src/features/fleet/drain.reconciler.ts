// Carries out drains: keeps as many migrations under way as each allows, on a new plan every time, and ends a drain when no VM of its host can
// move any more. All state is in the database, so any worker goes on with it.
import { reconciler, type Deps } from '../deps.ts'
import { getHost } from '../hosts/service.ts'
import { DRAIN, endRescueByOperator, startMigration, vmById } from '../vms/service.ts'
import { isUnderWay, planHost, termsOf, toStay, type DrainMove, type Stay } from './drain.ts'
import { toObstacle, type Obstacle } from './load.ts'
import type { FleetVm } from './plan.ts'
import * as sql from './sql.ts'

export const carryOutDrains = reconciler(DRAIN, '10s', async (deps) => {
  for (const drain of await sql.openDrains(deps.db))
    await advance(deps, drain).catch((error: unknown) =>
      deps.log.error({ err: error, drainId: drain.id }, 'carrying out drain failed; will retry'),
    )
})

async function advance(deps: Deps, drain: sql.DrainRow): Promise<void> {
  const host = await getHost(deps.db, drain.host_id)
  const { moves, stays: planned } = await planHost(deps.db, host, termsOf(drain))
  const [stays, refused]: [Stay[], Stay[]] = [[], []]
  for (const stay of planned) stays.push(stay.isRescue ? { ...stay, ...(await endRescue(deps, drain, stay.vm)) } : stay)
  // A VM whose migration is about to end is on its new host already.
  const isMoving = (await sql.movesOf(deps.db, drain.id)).some(({ status }) => isUnderWay(status))
  let waits = isMoving || (host.removed_at === null && stays.some(({ isTemporary }) => isTemporary))
  for (const move of moves) {
    const outcome = await tryStart(deps, drain, move)
    if (typeof outcome === 'string') waits = true
    else refused.push(outcome)
    if (outcome === 'source full') break
  }
  waits ||= host.removed_at === null && refused.some(({ isTemporary }) => isTemporary)
  if (waits) return
  const remaining = [...stays, ...refused].map(toStay)
  const status = remaining.length === 0 ? 'COMPLETED' : 'INCOMPLETE'
  const ended = await deps.db.tx((tx) => sql.endDrain(tx, deps.clock.now(), drain.id, status, remaining))
  if (ended > 0) deps.log.info({ drainId: drain.id, hostId: host.id, status, remaining: remaining.length }, 'drain ended')
}

/** A guest in rescue is stopped for it, as others may be. Returns why it cannot be. */
const endRescue = (deps: Deps, { id }: sql.DrainRow, vm: FleetVm): Promise<Obstacle | undefined> =>
  deps.db
    .tx(async (tx) => {
      if ((await sql.lockOpenDrain(tx, id)) && (await vmById(tx, vm.id))?.in_rescue) await endRescueByOperator(tx, deps, vm.id)
    })
    .then(() => undefined, toObstacle)

/** Full: it has as many migrations under way as the drain allows, or the drain has ended. */
type Started = 'started' | 'source full' | 'destination full'

const tryStart = (deps: Deps, { id: drainId }: sql.DrainRow, { vm, to, restarts }: DrainMove): Promise<Started | Stay> =>
  deps.db
    .tx(async (tx): Promise<Started> => {
      await sql.queueForStart(tx)
      const drain = await sql.lockOpenDrain(tx, drainId)
      const { leaving, arriving } = await sql.openMigrations(tx, vm.hostId, to.id)
      if (!drain || leaving >= drain.concurrency) return 'source full'
      if (arriving >= drain.concurrency) return 'destination full'
      const { actionId } = await startMigration(tx, deps, vm.id, { to: to.id, restarts })
      await sql.insertMove(tx, { run_id: actionId, drain_id: drainId, vm_id: vm.id, vm_name: vm.name })
      return 'started'
    })
    .catch((error: unknown) => ({ vm, ...toObstacle(error) }))
