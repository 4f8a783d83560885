import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost, listHosts } from '../hosts/service.ts'
import { meterEnded, meterTraffic } from './metering.ts'

const TIMEOUT_MS = 55_000

const reachableHosts = async ({ db }: Deps): Promise<string[]> =>
  (await listHosts(db)).filter((host) => host.unreachable_since === null).map((host) => host.id)

/** One run per host, so that a slow host does not delay the others. */
export const meter = keyedReconciler('bandwidth.meter', '60s', {
  busy: reachableHosts,
  runOnce: (deps, hostId, stopping) =>
    callHost(deps, hostId, stopping, (driver, signal) => meterTraffic(deps, driver, 'all', signal), TIMEOUT_MS),
})

export const watchTraffic = keyedReconciler('bandwidth.watch', '5s', {
  busy: reachableHosts,
  runOnce: (deps, hostId, stopping) => callHost(deps, hostId, stopping, (driver, signal) => meterEnded(deps, driver, signal)),
})
