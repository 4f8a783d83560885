// The way of a lost host: all its paths are silent, it is fenced, its VMs on replicated storage start elsewhere, it returns and is cleaned. Each is
// done again until it is done; an operator, or the setting of the region, takes it from one to the next.
import { addDuration } from '../../kernel/clock.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import { openRunOf } from '../../workflow/run-store.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { getHost, isBack, listHosts, lostSince, markFenced, pathsOf, type HostRow } from '../hosts/service.ts'
import { hasAnswered, isBlockedInPart, isFenceIntact, voidFence } from './fencing.ts'
import { LOST_HOSTS, startFence } from './fence.workflow.ts'
import * as sql from './fences.sql.ts'
import { cleanHost } from './return.ts'
import { startRecoveries } from './service.ts'

const VERIFY_MS = 30_000
const TRY_AGAIN = '10s'

export const followLostHosts = keyedReconciler(LOST_HOSTS, '5s', {
  busy: async (deps) => {
    await requestFences(deps)
    const fences = await sql.listFences(deps.db)
    await report(deps, fences)
    return fences.map(({ host_id }) => host_id)
  },
  runOnce: follow,
})

/** Of regions that want it. */
async function requestFences({ db, clock, log }: Deps): Promise<void> {
  for (const { id, lost_after_seconds } of await sql.hostsToWatch(db)) {
    const host = await getHost(db, id)
    const paths = (await pathsOf(db, [host])).get(id)!
    if (!paths.some(({ path }) => path === 'STORAGE')) continue // the others have not been asked yet
    const since = lostSince(paths)
    if (since === null || clock.now().getTime() - since.getTime() < lost_after_seconds * 1000) continue
    await db.tx((tx) => sql.requestFence(tx, clock.now(), id, true))
    log.error({ host: host.name, since }, 'host is lost on every path; fencing it')
  }
}

async function report({ db, metrics }: { db: Deps['db']; metrics: Metrics }, fences: sql.FenceRow[]): Promise<void> {
  metrics.hostFence.reset()
  const names = new Map((await listHosts(db)).map(({ id, name, fenced_at }) => [id, { name, isFenced: fenced_at !== null }]))
  for (const { host_id, error } of fences) {
    const host = names.get(host_id)
    if (host) metrics.hostFence.set({ host: host.name, state: host.isFenced ? 'fenced' : error === null ? 'requested' : 'failed' }, 1)
  }
}

async function follow(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock, log } = deps
  const [host, fence] = [await getHost(db, hostId), await sql.findFence(db, hostId)]
  if (!fence || fence.next_attempt_at > clock.now()) return
  const signal = AbortSignal.any([AbortSignal.timeout(VERIFY_MS), stopping])
  const isReachable = host.unreachable_since === null && host.lost_at === null
  if (isReachable) return host.fenced_at === null ? withdraw(deps, host, signal) : returnHost(deps, host, stopping)
  if (host.fenced_at === null) return void (await db.tx((tx) => startFence(tx, deps, hostId)))
  const isWanted = fence.recovers && (await sql.hasVmsToMove(db, hostId))
  if (hasAnswered(host) || (isWanted && !(await isFenceIntact(deps, host, fence.means, signal)))) {
    log.error({ host: host.name }, 'fence of host no longer holds; fencing it again')
    return voidFence(deps, hostId)
  }
  if (!isWanted) return
  const started = await startRecoveries(deps, hostId, undefined)
  if (started.some(({ outcome }) => outcome === 'WAITS')) await sql.postpone(db, hostId, addDuration(clock.now(), TRY_AGAIN))
}

/** The host answers again before it was fenced. What may have been blocked in part is treated as if it was: its guests may have lost their disks. */
async function withdraw(deps: Deps, host: HostRow, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = deps
  if (await db.tx((tx) => openRunOf(tx, host.id))) return
  const isBlocked = await isBlockedInPart(deps, host.id, signal)
  await db.tx((tx) => (isBlocked ? markFenced(tx, host.id, clock.now()) : sql.deleteFence(tx, host.id)))
  log.warn({ host: host.name, isBlocked }, 'host answers again before it was fenced; nothing was moved')
}

async function returnHost(deps: Deps, host: HostRow, stopping: AbortSignal): Promise<void> {
  const { db, clock, log } = deps
  if (!isBack(host, clock.now())) return
  const problem = await cleanHost(deps, host, stopping)
  if (problem === null) return log.warn({ host: host.name }, 'host has returned and was cleaned; it stays in maintenance')
  log.warn({ host: host.name, problem }, 'cleaning returned host failed; will retry')
  await sql.setError(db, host.id, problem, addDuration(clock.now(), TRY_AGAIN))
}
