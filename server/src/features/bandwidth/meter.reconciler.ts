import type { Driver } from '../../hypervisor/driver.ts'
import type { Reconciler } from '../../workflow/reconciler-loop.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost, listHosts } from '../hosts/service.ts'
import { findWatchedHosts, meterHost, watchHost } from './looks.ts'

const TIMEOUT_MS = 55_000

const reachableHosts = async ({ db }: Deps): Promise<string[]> =>
  (await listHosts(db)).filter((host) => host.unreachable_since === null).map((host) => host.id)

/** One run per host, so that a slow host does not delay the others. The loop is thrifty; a single run leaves nothing uncounted. */
function perHost(name: string, every: string, busy: (deps: Deps) => Promise<string[]>, work: typeof meterHost): Reconciler<Deps> {
  const runOn = (how: 'thorough' | 'thrifty') => (deps: Deps, hostId: string, stopping: AbortSignal) =>
    callHost(deps, hostId, stopping, (driver: Driver, signal) => work(deps, driver, how, signal), TIMEOUT_MS)
  const { runOnce } = keyedReconciler(name, every, { busy: reachableHosts, runOnce: runOn('thorough') })
  return { ...keyedReconciler(name, every, { busy, runOnce: runOn('thrifty') }), runOnce }
}

export const meter = perHost('bandwidth.meter', '60s', reachableHosts, meterHost)
export const watchTraffic = perHost('bandwidth.watch', '5s', watchedHosts, watchHost)

/** Not those that were lost or removed since: the other look does not come by there to say that nothing is left to watch. */
async function watchedHosts(deps: Deps): Promise<string[]> {
  const watched = new Set(await findWatchedHosts(deps))
  return watched.size === 0 ? [] : (await reachableHosts(deps)).filter((id) => watched.has(id))
}
