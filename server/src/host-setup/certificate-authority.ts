// The control plane's certificate authorities, in `pki/` of the data folder, with the openssl command because Node can read certificates but
// not sign them. Each is trusted for one purpose, so that a stolen certificate of a host serves for nothing but that host:
//   ca          libvirtd of hosts, and the control plane and the other hosts of their region as its clients
//   network-ca  network controllers, and the control plane as their client
//   chassis-ca  hosts as clients of the southbound database
//   migration-… QEMUs of the hosts of one region, which send machines to each other
// Their keys allow impersonating any host and the control plane. `<authority>.index` records what each but chassis-ca has signed, in the
// format of `openssl ca`, and `<authority>-crl.pem` lists what of it is revoked. OVN's databases know no such lists: certificates of chassis end
// soon instead, and are renewed on hosts that are not removed.
import { X509Certificate } from 'node:crypto'
import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { canonicalAddress } from '../hypervisor/host-address.ts'
import { systemClock } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import { withFileLock } from '../kernel/file-lock.ts'
import { exists, readFileOrNull, run, writeFileAtomic } from './shell.ts'

export const pkiFolder = (dataDir: string): string => join(dataDir, 'pki')

/** In days. Certificates of other machines are renewed by the operator, those of the control plane and of chassis by the worker. */
const AUTHORITY_DAYS = 3650
const CERTIFICATE_DAYS = 825
export const RENEW_DAYS = 60
const CHASSIS_DAYS = 30
/** When the worker has failed to renew it for ten days. */
export const WARN_CHASSIS_DAYS = 10

export interface Identity {
  cert: string
  key: string
}

export interface Authority {
  ca: string
  networkCa: string
  chassisCa: string
  /** PEM: what `ca` has revoked. */
  crl: string
  /** Common name of the client certificate. */
  name: string
  /** Issues the certificate of libvirtd for the host at this address or name. */
  issue(address: string): Promise<Identity>
  /** Of the host as a client of the libvirtds of its region, to migrate machines to them. They know it by the region. */
  issuePeer(address: string, regionId: string): Promise<Identity>
  /** Of the QEMUs of the host, which can read its key: no libvirtd accepts it. */
  issueMigration(address: string, regionId: string): Promise<Identity & { ca: string; crl: string }>
  /** Of a network controller: its databases serve hosts and the control plane, and are clients of the other members. */
  issueController(address: string): Promise<Identity>
  /** Of a host as a chassis of that name: the southbound database lets it change rows of no other chassis. */
  issueChassis(name: string): Promise<Identity>
  /** Revokes every certificate of a host or network controller, and answers how many there were. */
  revoke(address: string): Promise<number>
  /** Revokes those of the control plane, and issues new ones in their place. */
  replaceClients(): Promise<number>
}

const AUTHORITIES = ['ca', 'network-ca', 'chassis-ca'] as const
/** Of each region one, made when its first host gets its certificate. */
const migrationCa = (regionId: string): `migration-${string}` => `migration-${regionId}`
const migrationCas = async (folder: string) =>
  (await readdir(folder)).flatMap((name) => (/^migration-(.+)\.key$/.exec(name) ?? []).slice(1).map(migrationCa))
type AuthorityName = (typeof AUTHORITIES)[number] | ReturnType<typeof migrationCa>
/** The control plane's own certificates, and who signs them. */
const CLIENTS = { client: 'ca', 'network-client': 'network-ca' } as const
type RevocableAuthority = Exclude<AuthorityName, 'chassis-ca'>
const isRevocable = (name: AuthorityName): name is RevocableAuthority => name !== 'chassis-ca'
const REVOCABLE = Object.values(CLIENTS)
const crlFile = (name: RevocableAuthority): string => `${name}-crl.pem`

/** What API and worker present to hosts and network controllers, and trust them by. */
export const CLIENT_FILES = Object.entries(CLIENTS).flatMap(([name, ca]) => [`${ca}.pem`, crlFile(ca), `${name}.pem`, `${name}.key`])

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
  const locked = <T>(work: () => Promise<T>): Promise<T> => withFileLock(file('lock'), work)
  await locked(async () => {
    for (const name of AUTHORITIES) if (!(await exists(file(`${name}.pem`)))) await createAuthority(folder, name)
    for (const name of REVOCABLE) if (!(await exists(file(crlFile(name))))) await writeCrl(folder, name)
    for (const [name, signer] of Object.entries(CLIENTS)) {
      const known = await readFileOrNull(file(`${name}.pem`))
      if (daysLeft(known) < RENEW_DAYS) await createClientCertificate(folder, name, signer, known)
      else await record(folder, signer, known!, commonName(known!)) // an older version has not
    }
  })
  /** `owner`: by whose address or name it is revoked. */
  const issue = (
    signer: AuthorityName,
    name: string,
    usage: keyof typeof EXTENDED_USAGE,
    names: string[],
    owner = name,
  ): Promise<Identity> =>
    locked(() =>
      withScratchFolder(folder, async (scratch) => {
        await sign(folder, scratch, signer, name, usage, names, owner)
        return { cert: await readFile(join(scratch, 'pem'), 'utf8'), key: await readFile(join(scratch, 'key'), 'utf8') }
      }),
    )
  const names = (address: string): string[] => ['-addext', `subjectAltName=${isIP(address) ? 'IP' : 'DNS'}:${address}`]
  return {
    ca: await readFile(file('ca.pem'), 'utf8'),
    networkCa: await readFile(file('network-ca.pem'), 'utf8'),
    chassisCa: await readFile(file('chassis-ca.pem'), 'utf8'),
    crl: await readFile(file(crlFile('ca')), 'utf8'),
    name: commonName(await readFile(file('client.pem'), 'utf8')),
    issue: (address) => issue('ca', address, 'server', names(address)),
    issuePeer: (address, regionId) => issue('ca', peerName(regionId), 'client', [], address),
    issueMigration: async (address, regionId) => {
      const signer = migrationCa(regionId)
      await locked(async () => {
        if (!(await exists(file(`${signer}.pem`)))) await createAuthority(folder, signer)
        if (!(await exists(file(crlFile(signer))))) await writeCrl(folder, signer)
      })
      const [ca, crl] = await Promise.all([`${signer}.pem`, crlFile(signer)].map((name) => readFile(file(name), 'utf8')))
      return { ca: ca!, crl: crl!, ...(await issue(signer, address, 'both', names(address))) }
    },
    issueController: (address) => issue('network-ca', address, 'both', names(address)),
    issueChassis: (name) => issue('chassis-ca', name, 'client', []),
    revoke: (address) =>
      locked(async () => {
        const signers = [...REVOCABLE, ...(await migrationCas(folder))]
        return sum(await Promise.all(signers.map((name) => revoke(folder, name, address))))
      }),
    replaceClients: () =>
      locked(async () => {
        const replaced = Object.entries(CLIENTS).map(async ([name, signer]) => {
          const known = await readFile(file(`${name}.pem`), 'utf8')
          const count = await revoke(folder, signer, commonName(known))
          await createClientCertificate(folder, name, signer, known)
          return count
        })
        return sum(await Promise.all(replaced))
      }),
  }
}

const sum = (counts: number[]): number => counts.reduce((all, count) => all + count, 0)

/** Hosts accept only this certificate, so it must be renewed even when no host certificate is issued. Needs the CA key on this machine. */
export async function renewClientCertificate(dataDir: string): Promise<void> {
  await openOwnAuthority(dataDir)
}

/** Null where the authorities are on another machine. */
const openOwnAuthority = async (dataDir: string): Promise<Authority | null> =>
  (await exists(join(pkiFolder(dataDir), 'ca.key'))) ? openAuthority(dataDir) : null

/** How many there were. */
export const revokeCertificates = async (dataDir: string, address: string): Promise<number | null> =>
  (await openOwnAuthority(dataDir))?.revoke(address) ?? null

/** Serial numbers of certificates of hosts and of the control plane that libvirtd would accept otherwise; none on machines without the record. */
export async function revokedSerials(dataDir: string): Promise<string[]> {
  const now = utcTime(systemClock.now())
  const lines = ((await readFileOrNull(indexFile(pkiFolder(dataDir), 'ca'))) ?? '').split('\n').map((line) => line.split('\t'))
  return lines.flatMap(([state, expiry, , serial]) => (state === 'R' && expiry! > now ? serial! : []))
}

export const replaceClientCertificates = async (dataDir: string): Promise<number | null> =>
  (await openOwnAuthority(dataDir))?.replaceClients() ?? null

export async function issueChassis(dataDir: string, name: string): Promise<Identity | null> {
  if (!/^[A-Za-z0-9.-]+$/.test(name)) throw new Error(`"${name}" is no name of a chassis`)
  return (await openOwnAuthority(dataDir))?.issueChassis(name) ?? null
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
    await sign(folder, scratch, signer, subject, 'client', [], subject)
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
  owner: string,
): Promise<void> {
  const by = ['-CA', join(folder, `${signer}.pem`), '-CAkey', join(folder, `${signer}.key`), '-addext', 'basicConstraints=CA:FALSE']
  const use = ['-addext', 'keyUsage=critical,digitalSignature,keyEncipherment', '-addext', `extendedKeyUsage=${EXTENDED_USAGE[usage]}`]
  await request(scratch, name, signer === 'chassis-ca' ? CHASSIS_DAYS : CERTIFICATE_DAYS, [...by, ...use, ...names])
  if (isRevocable(signer)) await record(folder, signer, await readFile(join(scratch, 'pem'), 'utf8'), owner)
}

/** Once. */
async function record(folder: string, signer: RevocableAuthority, pem: string, owner: string): Promise<void> {
  const { validTo, serialNumber } = new X509Certificate(pem)
  if ((await readFileOrNull(indexFile(folder, signer)))?.includes(`\t${serialNumber}\t`)) return
  const line = ['V', utcTime(new Date(validTo)), '', serialNumber, 'unknown', `/CN=${owner}`]
  await appendFile(indexFile(folder, signer), `${line.join('\t')}\n`, { mode: 0o600, flush: true })
}

const indexFile = (folder: string, name: RevocableAuthority): string => join(folder, `${name}.index`)

/** Of ASN.1: YYMMDDhhmmssZ. */
const utcTime = (time: Date): string => `${time.toISOString().replace(/\D/g, '').slice(2, 14)}Z`

async function revoke(folder: string, name: RevocableAuthority, subject: string): Promise<number> {
  let count = 0
  const index = (await readFileOrNull(indexFile(folder, name))) ?? ''
  const lines = index.split('\n').map((line) => {
    const [state, expiry, , ...rest] = line.split('\t')
    if (state !== 'V' || canonicalAddress(rest.at(-1)!.replace('/CN=', '')) !== canonicalAddress(subject)) return line
    count++
    return ['R', expiry, utcTime(systemClock.now()), ...rest].join('\t')
  })
  await writeFileAtomic(indexFile(folder, name), lines.join('\n'), 0o600)
  await writeCrl(folder, name)
  return count
}

/** It never ends before its authority: who has an old list would refuse everything then. */
async function writeCrl(folder: string, name: RevocableAuthority): Promise<void> {
  const index = indexFile(folder, name)
  if (!(await exists(index))) await writeFile(index, '', { mode: 0o600 })
  await withScratchFolder(folder, async (scratch) => {
    const conf = join(scratch, 'conf')
    await writeFile(conf, '[ca]\ndefault_ca=own\n[own]\ndatabase=$ENV::BERTH_INDEX\nunique_subject=no\ndefault_md=sha256\n')
    const by = ['-cert', join(folder, `${name}.pem`), '-keyfile', join(folder, `${name}.key`), '-crldays', String(AUTHORITY_DAYS)]
    await run('env', `BERTH_INDEX=${index}`, 'openssl', 'ca', '-gencrl', '-config', conf, ...by, '-out', join(scratch, 'crl'))
    await writeFileAtomic(join(folder, crlFile(name)), await readFile(join(scratch, 'crl'), 'utf8'))
  })
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
