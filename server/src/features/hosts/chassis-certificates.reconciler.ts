// Renews the certificates with which hosts connect to network controllers. They end within a month, so that one of a removed host does.
import { addDuration } from '../../kernel/clock.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost } from './host-call.ts'
import { listHosts } from './service.ts'

const RENEWED_BEFORE_ITS_END = '20d'

export const renewChassisCertificates = keyedReconciler('hosts.chassis_certificates', '1h', {
  busy: async ({ db }) =>
    (await listHosts(db)).filter(({ driver, unreachable_since }) => driver === 'libvirt' && !unreachable_since).map(({ id }) => id),
  runOnce: (deps: Deps, hostId, stopping) =>
    callHost(deps, hostId, stopping, (driver, signal) =>
      driver.ensureChassisCertificate(
        addDuration(deps.clock.now(), RENEWED_BEFORE_ITS_END),
        async (name) => {
          const issued = await deps.issueChassis(name)
          if (issued) deps.log.info({ hostId, chassis: name }, 'chassis certificate issued')
          return issued
        },
        signal,
      ),
    ),
})
