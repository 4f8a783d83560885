import { join } from 'node:path'
import { findPendingUpgrade } from '../../database.ts'
import { listHosts } from '../../features/hosts/service.ts'
import { daysLeft, pkiFolder, RENEW_DAYS, revokedSerials, WARN_CHASSIS_DAYS } from '../../host-setup/certificate-authority.ts'
import { controllerFiles } from '../../host-setup/network-controller.ts'
import { chassisFiles } from '../../host-setup/ovn.ts'
import { readFileOrNull } from '../../host-setup/shell.ts'
import { tlsFiles } from '../../host-setup/tls.ts'
import { failure, ok, warning, type Check, type Finding } from './check.ts'
import { databaseCheck } from './database.ts'

/** Those of the control plane, and those of this machine as a host and as a network controller; and whether hosts know what is revoked. */
export const certificates: Check = async (config) => {
  const { dataDir } = config
  const serials = await revokedSerials(dataDir)
  const folder = pkiFolder(dataDir)
  const findings = [
    checkExpiry(
      'the certificate authority',
      await readFileOrNull(join(folder, 'ca.pem')),
      'every host needs a new certificate: move the pki folder out of the data folder, then run npx berthd host certificate',
    ),
    checkExpiry(
      'the client certificate for hosts',
      await readFileOrNull(join(folder, 'client.pem')),
      'the worker on the machine with pki/ca.key renews it: check its log, then copy the pki folder to the other machines',
    ),
    checkExpiry(
      'the client certificate for network controllers',
      await readFileOrNull(join(folder, 'network-client.pem')),
      'the worker on the machine with pki/network-ca.key renews it: check its log, then copy the pki folder to the other machines',
    ),
    checkExpiry(
      "this machine's certificate as a network controller",
      await readFileOrNull(controllerFiles.cert),
      'on the control plane: npx berthd network-controller certificate; then here: berthd network-controller prepare --certificate bundle',
    ),
    checkExpiry(
      "this machine's certificate as a chassis",
      await readFileOrNull(chassisFiles.identity),
      'the worker on the machine with pki/ca.key renews it: check its log; or on the control plane: npx berthd host certificate; then here: berthd host prepare --certificate bundle',
      WARN_CHASSIS_DAYS,
    ),
    checkExpiry(
      "this machine's certificate as a host",
      await readFileOrNull(tlsFiles.cert),
      'on the control plane: npx berthd host certificate; then here: berthd host prepare --certificate bundle',
    ),
    serials.length > 0 ? await checkLists(dataDir, serials)(config) : null,
  ].filter((finding) => finding !== null)
  if (findings.length === 0) return ok('certificates: none yet, npx berthd host certificate creates them')
  return findings.find(({ status }) => status === 'failure') ?? findings.find(({ status }) => status === 'warning') ?? findings[0]!
}

const READ_MS = 15_000

/** A host that does not answer is named by other checks. */
const checkLists = (dataDir: string, serials: string[]): Check =>
  databaseCheck('revoked certificates', async (db) => {
    const all = (await findPendingUpgrade(db)) ? [] : await listHosts(db)
    const hosts = all.filter(({ uri, lost_at }) => uri.startsWith('qemu+tls:') && !lost_at)
    const { hasRevoked } = await import('../../host-setup/revocation-list.ts') // imported on demand: it loads the libvirt client
    const known = await Promise.all(
      hosts.map(({ uri }) => hasRevoked(dataDir, uri, serials, AbortSignal.timeout(READ_MS)).catch(() => true)),
    )
    const names = hosts.filter((_, i) => !known[i]).map(({ name }) => name)
    if (names.length === 0) return ok('hosts that answer refuse revoked certificates')
    return warning(
      `hosts that accept revoked certificates, because their list is old: ${names.join(', ')}`,
      'for each: npx berthd host certificate; then there: berthd host prepare --certificate bundle',
    )
  })

export function checkExpiry(what: string, pem: string | null, fix: string, warnDays = RENEW_DAYS): Finding | null {
  if (pem === null) return null
  const days = Math.floor(daysLeft(pem))
  if (days < 0) return failure(`${what} has expired`, fix)
  return days < warnDays ? warning(`${what} expires in ${days} days`, fix) : ok(`certificates are valid for at least ${days} days`)
}
