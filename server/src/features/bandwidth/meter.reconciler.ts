import { lanedReconciler } from '../deps.ts'
import { askHost, listHosts } from '../hosts/service.ts'
import { countTraffic } from './count.ts'

const TIMEOUT_MS = 55_000

/** Every host by itself: one that is slow to answer holds up no other. */
export const meter = lanedReconciler('bandwidth.meter', '60s', {
  busy: async ({ db }) => (await listHosts(db)).filter((host) => host.unreachable_since === null).map((host) => host.id),
  pass: (deps, hostId, stopping) =>
    askHost(deps, hostId, stopping, (driver, signal) => countTraffic(deps, driver, 'all', signal), TIMEOUT_MS),
})
