// Configures libvirtd for TLS: it presents the issued certificate and accepts the control plane, and the hosts of its region, which migrate
// machines to it, unless their certificates are revoked.
import { X509Certificate } from 'node:crypto'
import { isIP, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { systemClock } from '../kernel/clock.ts'
import { SERVER_CERTIFICATE } from '../hypervisor/libvirt/core/resource-names.ts'
import type { Bundle, HostPlan } from './setup-step.ts'
import { isSet, set, type Settings } from './managed-block.ts'
import { missing, SetupError, satisfied, type Step } from './setup-step.ts'
import { BERTH_FOLDER, exists, readFileOrNull, writeFileAtomic } from './shell.ts'

export const LIBVIRTD_CONF = '/etc/libvirt/libvirtd.conf'
export const TLS_SOCKET = 'libvirtd-tls.socket'
const SOCKET_UNIT = `/etc/systemd/system/${TLS_SOCKET}.d/berth.conf`
export const TLS_PORT = 16_514

export const tlsFiles = {
  ca: join(BERTH_FOLDER, 'ca.pem'),
  cert: join(BERTH_FOLDER, SERVER_CERTIFICATE),
  key: join(BERTH_FOLDER, 'server.key'),
  crl: join(BERTH_FOLDER, 'ca-crl.pem'),
  allowedName: join(BERTH_FOLDER, 'allowed-name'),
  allowedPeers: join(BERTH_FOLDER, 'allowed-peers'),
}

const contentOf = (bundle: Bundle) => ({
  ca: bundle.ca,
  cert: bundle.cert,
  key: bundle.key,
  crl: bundle.crl,
  allowedName: bundle.allowedName,
  allowedPeers: bundle.peers?.allowedName ?? '',
})

export const tls: Step = {
  name: 'certificate',
  async check(plan) {
    if (!plan.tlsAddress) return satisfied('local connections only')
    if (plan.bundle && !(await isInstalled(plan))) return missing(`the certificate for ${plan.tlsAddress}`)
    const cert = await readFileOrNull(tlsFiles.cert)
    if (!cert) return missing(`the certificate for ${plan.tlsAddress}`)
    requireValid(cert)
    const done =
      (await isSet(LIBVIRTD_CONF, await settingsOf(plan))) && (!plan.systemd || (await readFileOrNull(SOCKET_UNIT)) === socketUnit(plan))
    return done
      ? satisfied(`certificate for ${plan.tlsAddress}, valid until ${lastDay(cert)}`)
      : missing(`TLS settings in ${LIBVIRTD_CONF}`)
  },
  async apply(plan) {
    if (plan.bundle) await install(plan)
    if (!(await readFileOrNull(tlsFiles.cert))) {
      throw new SetupError(
        'The certificate of this host is missing',
        'issue a new one on the control plane, and give it: --certificate bundle',
      )
    }
    await set(LIBVIRTD_CONF, await settingsOf(plan), 0o644)
    if (plan.systemd) await writeFileAtomic(SOCKET_UNIT, socketUnit(plan))
  },
}

async function isInstalled({ bundle }: HostPlan): Promise<boolean> {
  if (!bundle) return false
  const wanted = Object.entries(contentOf(bundle)) as [keyof typeof tlsFiles, string][]
  const found = await Promise.all(wanted.map(([name]) => readFileOrNull(tlsFiles[name])))
  return wanted.every(([, content], i) => (found[i] ?? '') === content)
}

async function install({ bundle }: HostPlan): Promise<void> {
  if (!bundle) return
  requireValid(bundle.cert)
  await writeFileAtomic(tlsFiles.key, bundle.key, 0o600)
  await writeFileAtomic(tlsFiles.ca, bundle.ca)
  await writeFileAtomic(tlsFiles.cert, bundle.cert)
  await writeFileAtomic(tlsFiles.crl, bundle.crl)
  await writeFileAtomic(tlsFiles.allowedName, bundle.allowedName)
  await writeFileAtomic(tlsFiles.allowedPeers, contentOf(bundle).allowedPeers)
}

function requireValid(cert: string): void {
  const { validTo, validFrom } = new X509Certificate(cert)
  const now = systemClock.now()
  if (new Date(validTo) <= now) {
    throw new SetupError(
      `The certificate of this host expired on ${validTo}`,
      'issue a new one on the control plane, and give it: --certificate bundle',
    )
  }
  if (new Date(validFrom) > now) {
    throw new SetupError(
      `The certificate of this host is not valid before ${validFrom}, which is in the future for this machine's clock`,
      'set the clock: timedatectl set-ntp true',
    )
  }
}

const lastDay = (cert: string): string => new Date(new X509Certificate(cert).validTo).toISOString().slice(0, 10)

/** Under systemd the socket unit sets the address; libvirtd fails when it is configured here too. */
async function settingsOf({ tlsAddress, systemd }: HostPlan): Promise<Settings> {
  const where: Settings =
    systemd || !tlsAddress ? {} : { listen_tls: 1, listen_tcp: 0, listen_addr: tlsAddress, tls_port: String(TLS_PORT) }
  return {
    ...where,
    ca_file: tlsFiles.ca,
    cert_file: tlsFiles.cert,
    key_file: tlsFiles.key,
    // libvirtd does not start without a file that it is told of.
    ...((await exists(tlsFiles.crl)) && { crl_file: tlsFiles.crl }),
    auth_tls: 'none', // the client certificate authenticates
    tls_no_verify_certificate: 0,
    tls_allowed_dn_list: [(await readFileOrNull(tlsFiles.allowedName)) ?? '', (await readFileOrNull(tlsFiles.allowedPeers)) || []].flat(),
  }
}

export const socketUnit = ({ tlsAddress }: Pick<HostPlan, 'tlsAddress'>): string =>
  [
    '# Written by berthd host prepare.',
    '[Socket]',
    'ListenStream=',
    `ListenStream=${socketAddress(tlsAddress ?? '')}`,
    'FreeBind=true',
    '',
  ].join('\n')

/** systemd resolves no names, so a host with a name listens on all addresses. TLS still rejects other clients. */
function socketAddress(address: string): string {
  if (isIP(address) === 0) return String(TLS_PORT)
  return `${isIPv6(address) ? `[${address}]` : address}:${TLS_PORT}`
}
