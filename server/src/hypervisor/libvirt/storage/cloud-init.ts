// The NoCloud seed of a guest, for cloud-init and for our own small images. It is JSON, a subset of YAML, so that no text can inject a
// setting. One value per line: the small images read it line by line.
//
// The instance id is the VM id and the same for all generations: a disk from the template has not seen it and is configured; a copy has, and
// keeps its hostname, keys and passwords.
import type { MachineSpec, NicSpec, CloudInitData } from '../../driver.ts'
import { isoImage } from './iso9660.ts'

export const seedImage = (spec: MachineSpec): Buffer =>
  isoImage('cidata', { 'meta-data': metaData(spec), 'user-data': userData(spec.seed), 'network-config': networkConfig(spec.nics) })

const metaData = ({ vmId, seed }: MachineSpec): string => json({ 'instance-id': seed.instanceId ?? vmId, 'local-hostname': seed.hostname })

export function userData({ hostname, user, sshKeys, passwordHash }: CloudInitData): string {
  const login = {
    name: user,
    ssh_authorized_keys: sshKeys,
    lock_passwd: passwordHash === null,
    ...(passwordHash !== null && { hashed_passwd: passwordHash }),
    ...(user !== 'root' && { shell: '/bin/bash', groups: ['sudo'], sudo: 'ALL=(ALL) NOPASSWD:ALL' }),
  }
  const settings = {
    hostname,
    users: [login],
    disable_root: user !== 'root',
    ssh_pwauth: passwordHash !== null,
    // Newer versions of cloud-init set the password of a user that exists in the image only by this.
    ...(passwordHash !== null && { chpasswd: { expire: false, users: [{ name: user, password: passwordHash, type: 'hash' }] } }),
  }
  return `#cloud-config\n${json(settings)}`
}

/** Static addresses. Only the public interface has a route beyond its own network. */
export function networkConfig(nics: NicSpec[]): string {
  const ethernets = nics.map(({ mac, ipv4, ipv6, dns }, index) => {
    const own = [ipv4 ?? [], ipv6 ?? []].flat()
    const addresses = own.map(({ address, prefix }) => `${address}/${prefix}`)
    const routes = own.flatMap(({ gateway }) =>
      gateway === null ? [] : [{ to: gateway.includes(':') ? '::/0' : '0.0.0.0/0', via: gateway }],
    )
    return [
      `berth${index}`,
      {
        match: { macaddress: mac.toLowerCase() },
        addresses,
        // With an address from a router of the provider, or of a neighbour, the guest would send from an address that is not its own.
        'accept-ra': false,
        ...(routes.length > 0 && { routes }),
        ...(dns.length > 0 && { nameservers: { addresses: dns } }),
      },
    ]
  })
  return json({ version: 2, ethernets: Object.fromEntries(ethernets) })
}

/** Escapes characters that YAML treats as line breaks, or rejects, and JSON allows. */
const json = (value: unknown): string =>
  JSON.stringify(value, null, 1).replace(
    /[\x7f-\ud7ff\ue000-\uffff]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  ) + '\n'
