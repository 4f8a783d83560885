// The control plane's certificate authorities, in `pki/` of the data folder, with the openssl command because Node can read certificates but
// not sign them. Each is trusted for one purpose, so that a stolen certificate of a host serves for nothing but that host:
//   ca          libvirtd of hosts, and the control plane as their client
//   network-ca  network controllers, and the control plane as their client
//   chassis-ca  hosts as clients of the southbound database
//   migration-… QEMUs of the hosts of one region, which send machines to each other
// Their keys allow impersonating any host and the control plane.
import { X509Certificate } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { systemClock } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import { withFileLock } from '../kernel/file-lock.ts'
import { exists, run } from './shell.ts'

export const pkiFolder = (dataDir: string): string => join(dataDir, 'pki')

/** In days. Certificates of other machines are renewed by the operator, those of the control plane by the worker. */
const AUTHORITY_DAYS = 3650
const CERTIFICATE_DAYS = 825
export const RENEW_DAYS = 60

export interface Identity {
  cert: string
  key: string
}

export interface Authority {
  ca: string
  networkCa: string
  chassisCa: string
  /** Common name of the client certificate. */
  name: string
  /** Issues the certificate of libvirtd for the host at this address or name. */
  issue(address: string): Promise<Identity>
  /** Of the host as a client of the libvirtds of its region, to migrate machines to them. They know it by the region. */
  issuePeer(regionId: string): Promise<Identity>
  /** Of the QEMUs of the host, which can read its key: no libvirtd accepts it. */
  issueMigration(address: string, regionId: string): Promise<Identity & { ca: string }>
  /** Of a network controller: its databases serve hosts and the control plane, and are clients of the other members. */
  issueController(address: string): Promise<Identity>
  /** Of a host as a chassis of that name: the southbound database lets it change rows of no other chassis. */
  issueChassis(name: string): Promise<Identity>
}

const AUTHORITIES = ['ca', 'network-ca', 'chassis-ca'] as const
/** Of each region one, made when its first host gets its certificate. */
const migrationCa = (regionId: string): `migration-${string}` => `migration-${regionId}`
type AuthorityName = (typeof AUTHORITIES)[number] | ReturnType<typeof migrationCa>
/** The control plane's own certificates, and who signs them. */
const CLIENTS = { client: 'ca', 'network-client': 'network-ca' } as const

/** What API and worker present to hosts and network controllers, and trust them by. */
export const CLIENT_FILES = Object.entries(CLIENTS).flatMap(([name, ca]) => [`${ca}.pem`, `${name}.pem`, `${name}.key`])

/** Common name of the hosts of a region as clients of each other. */
export const peerName = (regionId: string): string => `berth-peer-${regionId}`

const EXTENDED_USAGE = { server: 'serverAuth', client: 'clientAuth', both: 'serverAuth,clientAuth' } as const

/**
 * Creates what is missing, renews the client certificates before they expire, and opens the authorities. The file lock serialises processes.
 */
export async function openAuthority(dataDir: string): Promise<Authority> {
  const folder = pkiFolder(dataDir)
  const file = (name: string): string => join(folder, name)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await withFileLock(file('lock'), async () => {
    for (const name of AUTHORITIES) if (!(await exists(file(`${name}.pem`)))) await createAuthority(folder, name)
    for (const [name, signer] of Object.entries(CLIENTS)) {
      const known = await readFile(file(`${name}.pem`), 'utf8').catch(() => null)
      if (daysLeft(known) < RENEW_DAYS) await createClientCertificate(folder, name, signer, known)
    }
  })
  const issue = (signer: AuthorityName, name: string, usage: keyof typeof EXTENDED_USAGE, names: string[]): Promise<Identity> =>
    withScratchFolder(folder, async (scratch) => {
      await sign(folder, scratch, signer, name, usage, names)
      return { cert: await readFile(join(scratch, 'pem'), 'utf8'), key: await readFile(join(scratch, 'key'), 'utf8') }
    })
  const names = (address: string): string[] => ['-addext', `subjectAltName=${isIP(address) ? 'IP' : 'DNS'}:${address}`]
  return {
    ca: await readFile(file('ca.pem'), 'utf8'),
    networkCa: await readFile(file('network-ca.pem'), 'utf8'),
    chassisCa: await readFile(file('chassis-ca.pem'), 'utf8'),
    name: commonName(await readFile(file('client.pem'), 'utf8')),
    issue: (address) => issue('ca', address, 'server', names(address)),
    issuePeer: (regionId) => issue('ca', peerName(regionId), 'client', []),
    issueMigration: async (address, regionId) => {
      const signer = migrationCa(regionId)
      await withFileLock(file('lock'), async () => {
        if (!(await exists(file(`${signer}.pem`)))) await createAuthority(folder, signer)
      })
      return { ca: await readFile(file(`${signer}.pem`), 'utf8'), ...(await issue(signer, address, 'both', names(address))) }
    },
    issueController: (address) => issue('network-ca', address, 'both', names(address)),
    issueChassis: (name) => issue('chassis-ca', name, 'client', []),
  }
}

/** Hosts accept only this certificate, so it must be renewed even when no host certificate is issued. Needs the CA key on this machine. */
export async function renewClientCertificate(dataDir: string): Promise<void> {
  if (await exists(join(pkiFolder(dataDir), 'ca.key'))) await openAuthority(dataDir)
}

/** Negative after expiry and without a certificate. */
export function daysLeft(pem: string | null): number {
  if (pem === null) return -1
  return (new Date(new X509Certificate(pem).validTo).getTime() - systemClock.now().getTime()) / 86_400_000
}

const commonName = (pem: string): string => new X509Certificate(pem).subject.replace(/^CN=/, '')

/** The id in the name keeps two installations apart. */
async function createAuthority(folder: string, name: AuthorityName): Promise<void> {
  await withScratchFolder(folder, async (scratch) => {
    const extensions = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign,cRLSign']
    await request(scratch, `berth-${SUBJECTS[name as keyof typeof SUBJECTS] ?? 'migration'}-${newId()}`, AUTHORITY_DAYS, extensions)
    await storeKeyPair(scratch, folder, name)
  })
}

const SUBJECTS = { ca: 'authority', 'network-ca': 'networks', 'chassis-ca': 'chassis' }

async function createClientCertificate(folder: string, name: string, signer: AuthorityName, known: string | null): Promise<void> {
  const subject = known ? commonName(known) : `berth-control-plane-${newId()}`
  await withScratchFolder(folder, async (scratch) => {
    await sign(folder, scratch, signer, subject, 'client', [])
    await storeKeyPair(scratch, folder, name)
  })
}

/** Renames the key first: where the certificate exists, its key does too. */
async function storeKeyPair(scratch: string, folder: string, name: string): Promise<void> {
  await chmod(join(scratch, 'key'), 0o600)
  await rename(join(scratch, 'key'), join(folder, `${name}.key`))
  await rename(join(scratch, 'pem'), join(folder, `${name}.pem`))
}

async function sign(
  folder: string,
  scratch: string,
  signer: AuthorityName,
  name: string,
  usage: keyof typeof EXTENDED_USAGE,
  names: string[],
): Promise<void> {
  const by = ['-CA', join(folder, `${signer}.pem`), '-CAkey', join(folder, `${signer}.key`), '-addext', 'basicConstraints=CA:FALSE']
  const use = ['-addext', 'keyUsage=critical,digitalSignature,keyEncipherment', '-addext', `extendedKeyUsage=${EXTENDED_USAGE[usage]}`]
  await request(scratch, name, CERTIFICATE_DAYS, [...by, ...use, ...names])
}

/** Own configuration file, so that the machine's openssl.cnf adds no extensions. */
async function request(scratch: string, name: string, days: number, options: string[]): Promise<void> {
  await writeFile(join(scratch, 'conf'), '[req]\ndistinguished_name=name\n[name]\n')
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', String(days)]
  const files = ['-keyout', join(scratch, 'key'), '-out', join(scratch, 'pem')]
  await run('openssl', 'req', '-config', join(scratch, 'conf'), '-x509', ...ec, ...files, '-subj', `/CN=${name}`, ...options)
}

async function withScratchFolder<T>(folder: string, work: (scratch: string) => Promise<T>): Promise<T> {
  const scratch = await mkdtemp(join(folder, 'new-'))
  return work(scratch).finally(() => rm(scratch, { recursive: true, force: true }))
}
