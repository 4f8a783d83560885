// The certificate with which a host, as a chassis, connects to the network controllers of its region. It ends soon, because OVN's databases
// know no revocation, so it is renewed in place: over libvirt, as a volume of a pool on the folder of `host prepare`. OVN reads the file again
// when it has changed.
import { X509Certificate } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import type { Chassis, HostCertificate } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'
import { CHASSIS_IDENTITY, SERVER_CERTIFICATE, SETUP_POOL } from '../core/resource-names.ts'
import { findSetupFile, readSetupFile } from './setup-files.ts'

const MOST_BYTES = 64 * 1024
const FILES = { LIBVIRT: SERVER_CERTIFICATE, CHASSIS: CHASSIS_IDENTITY } as const

export const chassisMethods = ({ call, exclusive }: HostContext): Chassis => ({
  listCertificates: (signal) =>
    exclusive(SETUP_POOL, signal, () =>
      call('read the certificates of the host', signal, async (host) => {
        const found: HostCertificate[] = []
        for (const [kind, file] of Object.entries(FILES) as [HostCertificate['kind'], string][]) {
          const volume = await findSetupFile(host, file)
          if (!volume) continue
          const { subject, issuer, validTo } = new X509Certificate(await readSetupFile(host, volume, MOST_BYTES, signal))
          found.push({ kind, subject, issuer, expiresAt: new Date(validTo) })
        }
        return found
      }),
    ),
  ensureChassisCertificate: (validUntil, issue, signal) =>
    exclusive(SETUP_POOL, signal, () =>
      call('renew the certificate of the chassis', signal, async (host) => {
        const volume = await findSetupFile(host, CHASSIS_IDENTITY)
        if (!volume) return null
        const known = await readSetupFile(host, volume, MOST_BYTES, signal)
        // Hosts that an older version has prepared have the key in a file of its own, and a certificate for years.
        if (!known.includes('PRIVATE KEY')) return null
        const { validTo, subject } = new X509Certificate(known)
        const identity = new Date(validTo) < validUntil && (await issue(subject.replace(/^CN=/, '')))
        if (!identity) return new Date(validTo).toISOString()
        // In one write, over the old text and all of it.
        const renewed = `${identity.cert}${identity.key}`.padEnd(known.length, '\n')
        await pipeline([renewed], await host.volumes.upload({ volume }), { signal })
        return new Date(new X509Certificate(renewed).validTo).toISOString()
      }),
    ),
})
