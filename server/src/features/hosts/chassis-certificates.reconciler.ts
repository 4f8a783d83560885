// Renews the certificates with which hosts connect to network controllers. They end within a month, so that one of a removed host does.
import { addressIn, chassisName, isChassisOf } from '../../hypervisor/host-address.ts'
import { addDuration } from '../../kernel/clock.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost } from './host-call.ts'
import { getHost, listHosts } from './service.ts'

const RENEWED_BEFORE_ITS_END = '20d'

export const renewChassisCertificates = keyedReconciler('hosts.chassis_certificates', '1h', {
  busy: async ({ db }) =>
    (await listHosts(db)).filter(({ driver, unreachable_since }) => driver === 'libvirt' && !unreachable_since).map(({ id }) => id),
  runOnce: (deps: Deps, hostId, stopping) =>
    callHost(deps, hostId, stopping, async (driver, signal) => {
      const { uri } = await getHost(deps.db, hostId)
      return driver.ensureChassisCertificate(
        addDuration(deps.clock.now(), RENEWED_BEFORE_ITS_END),
        async (name) => {
          // The name comes from a file that root of the host can change: by another one it could change the rows of that chassis.
          if (!isChassisOf(uri, name)) {
            const expected = chassisName(addressIn(uri))
            deps.log.warn({ hostId, chassis: name, expected }, 'chassis name is not that of the host; no certificate issued')
            return null
          }
          const issued = await deps.issueChassis(name)
          if (issued) deps.log.info({ hostId, chassis: name }, 'chassis certificate issued')
          return issued
        },
        signal,
      )
    }),
})
