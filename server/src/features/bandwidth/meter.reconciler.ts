import { keyedReconciler } from '../deps.ts'
import { callHost, listHosts } from '../hosts/service.ts'
import { meterTraffic } from './metering.ts'

const TIMEOUT_MS = 55_000

/** One run per host, so that a slow host does not delay the others. */
export const meter = keyedReconciler('bandwidth.meter', '60s', {
  busy: async ({ db }) => (await listHosts(db)).filter((host) => host.unreachable_since === null).map((host) => host.id),
  runOnce: (deps, hostId, stopping) =>
    callHost(deps, hostId, stopping, (driver, signal) => meterTraffic(deps, driver, 'all', signal), TIMEOUT_MS),
})
