// Reads what hosts show of themselves, for operators: their certificates, and how OVN knows them. Requests read what was found.
import { keyedReconciler, type Deps } from '../deps.ts'
import { callController, callHost } from './host-call.ts'
import * as sql from './identity.sql.ts'
import { listHosts } from './service.ts'
import { listHostsIn, regionsWithHosts } from './sql.ts'

export const readCertificates = keyedReconciler('hosts.certificates', '10m', {
  busy: async ({ db }) =>
    (await listHosts(db)).filter(({ driver, unreachable_since }) => driver === 'libvirt' && !unreachable_since).map(({ id }) => id),
  runOnce: (deps: Deps, hostId, stopping) =>
    callHost(deps, hostId, stopping, async (driver, signal) =>
      sql.writeCertificates(deps.db, deps.clock.now(), hostId, await driver.listCertificates(signal)),
    ),
})

export const readChassis = keyedReconciler('hosts.chassis', '1m', {
  busy: ({ db }) => regionsWithHosts(db),
  runOnce: (deps: Deps, regionId, stopping) =>
    callController(deps, regionId, stopping, async (controller, signal) => {
      const hosts = (await listHostsIn(deps.db, regionId)).map(({ hostname }) => hostname)
      await sql.writeChassis(deps.db, deps.clock.now(), regionId, await controller.listChassis(hosts, signal))
    }),
})
