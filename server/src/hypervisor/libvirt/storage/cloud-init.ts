// What a guest learns at its first boot: a NoCloud seed, which cloud-init and our own small images read. All of it is JSON, which is YAML
// too, so that no text can become a setting. One value a line: the small images read it line by line.
//
// The instance id is the VM's own and stays the same over its generations: a disk from the template has never seen it and sets itself up,
// a copy has, and keeps the hostname, keys and passwords it had.
import type { MachineSpec, NicSpec, CloudInitData } from '../../driver.ts'
import { isoImage } from './iso9660.ts'

export const seedImage = (spec: MachineSpec): Buffer =>
  isoImage('cidata', { 'meta-data': metaData(spec), 'user-data': userData(spec.seed), 'network-config': networkConfig(spec.nics) })

const metaData = ({ vmId, seed }: MachineSpec): string => json({ 'instance-id': vmId, 'local-hostname': seed.hostname })

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
    // Newer versions of cloud-init set the password of a user that the image already has only here.
    ...(passwordHash !== null && { chpasswd: { expire: false, users: [{ name: user, password: passwordHash, type: 'hash' }] } }),
  }
  return `#cloud-config\n${json(settings)}`
}

/** Addresses are ours to give, so they are told rather than asked for. Only the public interface has a route beyond its own network. */
export function networkConfig(nics: NicSpec[]): string {
  const ethernets = nics.map(({ mac, address, prefix, gateway, dns }, index) => {
    const route = gateway !== null && { routes: [{ to: '0.0.0.0/0', via: gateway }] }
    const names = dns.length > 0 && { nameservers: { addresses: dns } }
    return [`berth${index}`, { match: { macaddress: mac.toLowerCase() }, addresses: [`${address}/${prefix}`], ...route, ...names }]
  })
  return json({ version: 2, ethernets: Object.fromEntries(ethernets) })
}

/** YAML takes some characters for line ends, or for none at all, that JSON lets pass. */
const json = (value: unknown): string =>
  JSON.stringify(value, null, 1).replace(
    /[\x7f-\ud7ff\ue000-\uffff]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  ) + '\n'
