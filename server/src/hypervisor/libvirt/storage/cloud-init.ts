// The NoCloud seed of a guest, for cloud-init and for our own small images. It is JSON, a subset of YAML, so that no text can inject a
// setting. One value per line: the small images read it line by line.
//
// User data of the customer stands beside our own settings, as further parts: encoded, so that it cannot end its part. Where both say something, cloud-init merges
// them in the order of the parts, and ours are the last; a part that cannot be read is left out alone.
//
// The instance id is the VM id and the same for all generations: a disk from the template has not seen it and is configured; a copy has, and
// keeps its hostname, keys and passwords.
import type { CloudInitData, MachineSpec, NicSpec, UserDataPart } from '../../driver.ts'
import { isoImage } from './iso9660.ts'

export const seedImage = (spec: MachineSpec): Buffer =>
  isoImage('cidata', { 'meta-data': metaData(spec), 'user-data': userData(spec.seed), 'network-config': networkConfig(spec.nics) })

const metaData = ({ vmId, seed }: MachineSpec): string =>
  json({
    'instance-id': seed.instanceId ?? vmId,
    'local-hostname': seed.hostname,
    // User data in which `users` is no list replaces ours.
    ...(seed.userData && seed.user === 'root' && { 'public-keys': seed.sshKeys }),
  })

export function userData({ hostname, user, sshKeys, passwordHash, userData: parts }: CloudInitData): string {
  const login = {
    name: user,
    ssh_authorized_keys: sshKeys,
    lock_passwd: passwordHash === null,
    ...(passwordHash !== null && { hashed_passwd: passwordHash }),
    ...(user !== 'root' && { shell: '/bin/bash', groups: ['sudo'], sudo: 'ALL=(ALL) NOPASSWD:ALL' }),
  }
  // Newer versions of cloud-init set the password of a user that exists in the image only by this.
  const password = passwordHash !== null && { chpasswd: { expire: false, users: [{ name: user, password: passwordHash, type: 'hash' }] } }
  const access = { disable_root: user !== 'root', ssh_pwauth: passwordHash !== null }
  if (!parts) return cloudConfig({ hostname, users: [login], ...access, ...password })
  return multipart([
    ownPart(access),
    ...parts.map(customersPart),
    ownPart({ users: [login], ...password }, 'list(prepend)+dict(recurse_list)+str()'),
    ownPart({ hostname, ...(user === 'root' && { disable_root: false }), ...(passwordHash !== null && { ssh_pwauth: true }) }),
  ])
}

const cloudConfig = (settings: object): string => `#cloud-config\n${json(settings)}`

/** Of lines that no part has: ours are JSON, and those of customers base64. */
const BOUNDARY = '==berth=='

const multipart = (parts: string[]): string =>
  [
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${BOUNDARY}"`,
    '',
    ...parts.map((part) => `--${BOUNDARY}\n${part}`),
    `--${BOUNDARY}--`,
    '',
  ].join('\n')

/** Replaces what the parts before it say, unless it is merged with that. */
const ownPart = (settings: object, mergeType: string | null = null): string =>
  [...headersOf({ type: 'text/cloud-config', filename: null, mergeType }), '', cloudConfig(settings)].join('\n')

const customersPart = (part: UserDataPart): string =>
  [
    ...headersOf(part),
    'Content-Transfer-Encoding: base64',
    '',
    ...(Buffer.from(part.text)
      .toString('base64')
      .match(/.{1,76}/g) ?? []),
  ].join('\n')

const headersOf = ({ type, filename, mergeType }: Omit<UserDataPart, 'text'>): string[] => [
  `Content-Type: ${type}; charset="utf-8"`,
  ...(filename === null ? [] : [`Content-Disposition: attachment; filename="${filename}"`]),
  ...(mergeType === null ? [] : [`Merge-Type: ${mergeType}`]),
]

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
