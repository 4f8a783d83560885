import { findPendingUpgrade } from '../../database.ts'
import { listHosts } from '../../features/hosts/service.ts'
import { readAuthorityFiles, type AuthorityStore } from '../../host-setup/authority-files.ts'
import { RENEW_DAYS, revokedSerials, WARN_CHASSIS_DAYS } from '../../host-setup/certificate-authority.ts'
import { controllerFiles } from '../../host-setup/network-controller.ts'
import { chassisFiles } from '../../host-setup/ovn.ts'
import { otherAuthoritiesIn, pkiFolder } from '../../host-setup/pki-folder.ts'
import { exists, readFileOrNull } from '../../host-setup/shell.ts'
import { daysLeft } from '../../host-setup/signing.ts'
import { tlsFiles } from '../../host-setup/tls.ts'
import { directAccess } from '../../hypervisor/local-access.ts'
import { openVault } from '../../kernel/crypto.ts'
import { failure, ok, warning, type Check, type Finding } from './check.ts'
import { databaseCheck } from './database.ts'

/** Those of the control plane, and those of this machine as a host and as a network controller; and whether hosts know what is revoked. */
export const certificates: Check = async (config) => {
  const findings = [...(await ofThisMachine()), await ofControlPlane(config)].filter((finding) => finding !== null)
  return findings.find(({ status }) => status === 'failure') ?? findings.find(({ status }) => status === 'warning') ?? findings[0]!
}

const ofThisMachine = async (): Promise<(Finding | null)[]> => [
  checkExpiry(
    "this machine's certificate as a network controller",
    await readFileOrNull(controllerFiles.cert),
    'on the control plane: npx berthd network-controller certificate; then here: berthd network-controller prepare --certificate bundle',
  ),
  checkExpiry(
    "this machine's certificate as a chassis",
    await readFileOrNull(chassisFiles.identity),
    'a worker renews it: check its log; or on the control plane: npx berthd host certificate; then here: berthd host prepare --certificate bundle',
    WARN_CHASSIS_DAYS,
  ),
  checkExpiry(
    "this machine's certificate as a host",
    await readFileOrNull(tlsFiles.cert),
    'on the control plane: npx berthd host certificate; then here: berthd host prepare --certificate bundle',
  ),
]

const ofControlPlane: Check = (config) =>
  databaseCheck('certificates', async (db) => {
    const none = ok('certificates: none yet, npx berthd host certificate creates them')
    if ((await findPendingUpgrade(db)) || !(await exists(config.masterKeyFile))) return none // other checks say so
    const store = { db, vault: openVault(config.masterKeyFile) }
    const files = await readAuthorityFiles(store, ['ca.pem', 'client.pem', 'network-client.pem'])
    const check = (what: string, name: string, fix: string): Finding | null => checkExpiry(what, files.get(name) ?? null, fix)
    const findings = [
      check('the certificate authority', 'ca.pem', `npx berthd certificate replace-authority hosts; ${NEW_BUNDLES}`),
      check('the client certificate for hosts', 'client.pem', RENEWED),
      check('the client certificate for network controllers', 'network-client.pem', RENEWED),
      await checkFolder(store, config.dataDir),
      await checkLists(store),
    ].filter((finding) => finding !== null)
    const worst = (status: Finding['status']): Finding | undefined => findings.find((finding) => finding.status === status)
    return worst('failure') ?? worst('warning') ?? findings[0] ?? none
  })(config)

const RENEWED = 'a worker renews it once a day: check its log'
const NEW_BUNDLES = 'for each host: npx berthd host certificate; then there: berthd host prepare --certificate bundle'

/** What an older version has left. */
async function checkFolder(store: AuthorityStore, dataDir: string): Promise<Finding | null> {
  const folder = pkiFolder(dataDir)
  if (!(await exists(folder))) return null
  const others = await otherAuthoritiesIn(store, dataDir).catch((error: Error) => error)
  if (others instanceof Error) return warning(`${folder} cannot be read: ${others.message}`, 'chown it to the user that runs Berth')
  return others.length === 0
    ? warning(`${folder} is not used any more: its certificates are in the database`, 'remove it, once no process is of an older version')
    : warning(
        `${folder} has other authorities than the database: ${others.join(', ')}`,
        `hosts that got their certificates from there need new ones, ${NEW_BUNDLES}; then remove the folder`,
      )
}

const READ_MS = 15_000

/** A host that does not answer is named by other checks. */
async function checkLists(store: AuthorityStore): Promise<Finding | null> {
  const serials = await revokedSerials(store)
  if (serials.length === 0) return null
  const hosts = (await listHosts(store.db)).filter(({ uri, lost_at }) => uri.startsWith('qemu+tls:') && !lost_at)
  const { hasRevoked } = await import('../../host-setup/revocation-list.ts') // imported on demand: it loads the libvirt client
  const access = directAccess((names) => readAuthorityFiles(store, names))
  const known = await Promise.all(hosts.map(({ uri }) => hasRevoked(access, uri, serials, AbortSignal.timeout(READ_MS)).catch(() => true)))
  const names = hosts.filter((_, i) => !known[i]).map(({ name }) => name)
  if (names.length === 0) return null
  return warning(`hosts that accept revoked certificates, because their list is old: ${names.join(', ')}`, NEW_BUNDLES)
}

export function checkExpiry(what: string, pem: string | null, fix: string, warnDays = RENEW_DAYS): Finding | null {
  if (pem === null) return null
  const days = Math.floor(daysLeft(pem))
  if (days < 0) return failure(`${what} has expired`, fix)
  return days < warnDays ? warning(`${what} expires in ${days} days`, fix) : ok(`certificates are valid for at least ${days} days`)
}
