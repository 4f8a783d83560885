// The certificate with which a host, as a chassis, connects to the network controllers of its region. It ends soon, because OVN's databases
// know no revocation, so it is renewed in place: over libvirt, as a volume of a pool on the folder of `host prepare`. OVN reads the file again
// when it has changed.
import { X509Certificate } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { Host, Named } from '@berth/libvirt'
import type { Chassis } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'
import { CHASSIS_IDENTITY, SETUP_FOLDER, SETUP_POOL } from '../core/resource-names.ts'
import { element } from '../core/xml.ts'

export const chassisMethods = ({ call, exclusive }: HostContext): Chassis => ({
  ensureChassisCertificate: (validUntil, issue, signal) =>
    exclusive(SETUP_POOL, signal, () =>
      call('renew the certificate of the chassis', signal, async (host) => {
        const pool = await openPool(host)
        const volume = (await host.pools.listAllVolumes({ pool })).find(({ name }) => name === CHASSIS_IDENTITY)
        if (!volume) return null
        const known = await text(await host.volumes.download({ volume }))
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

/** Transient: libvirt drops it when the daemon ends. */
async function openPool(host: Host): Promise<Named> {
  const known = (await host.pools.listAll({ flags: ['active'] })).find(({ name }) => name === SETUP_POOL)
  if (known) await host.pools.refresh({ pool: known })
  const path = element('target', {}, element('path', {}, SETUP_FOLDER))
  return (
    known ??
    host.pools.createXml({ xml: element('pool', { type: 'dir' }, element('name', {}, SETUP_POOL), path).xml, flags: ['withBuild'] })
  )
}
