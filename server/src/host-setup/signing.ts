// What the certificate authorities sign and revoke, in a folder that has their files, with the openssl command because Node can read certificates
// but not sign them. `<authority>.index` records what each but chassis-ca has signed, in the format of `openssl ca`, and `<authority>-crl.pem` lists
// what of it is revoked. OVN's databases know no such lists: certificates of chassis end soon instead, and are renewed on hosts that are not removed.
import { X509Certificate } from 'node:crypto'
import { appendFile, chmod, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { canonicalAddress } from '../hypervisor/host-address.ts'
import { systemClock } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import { exists, readFileOrNull, run, writeFileAtomic } from './shell.ts'

/** In days. Certificates of other machines are renewed by the operator, those of the control plane and of chassis by the worker. */
const AUTHORITY_DAYS = 3650
const CERTIFICATE_DAYS = 825
const CHASSIS_DAYS = 30

export interface Identity {
  cert: string
  key: string
}

export const AUTHORITIES = ['ca', 'network-ca', 'chassis-ca'] as const
/** Of each region one, made when its first host gets its certificate. */
export const migrationCa = (regionId: string): `migration-${string}` => `migration-${regionId}`
export const migrationCas = async (folder: string) =>
  (await readdir(folder)).flatMap((name) => (/^migration-(.+)\.key$/.exec(name) ?? []).slice(1).map(migrationCa))
export type AuthorityName = (typeof AUTHORITIES)[number] | ReturnType<typeof migrationCa>
/** The control plane's own certificates, and who signs them. */
export const CLIENTS = { client: 'ca', 'network-client': 'network-ca' } as const
type RevocableAuthority = Exclude<AuthorityName, 'chassis-ca'>
const isRevocable = (name: AuthorityName): name is RevocableAuthority => name !== 'chassis-ca'
export const REVOCABLE = Object.values(CLIENTS)
export const crlFile = (name: RevocableAuthority): string => `${name}-crl.pem`
export const indexFile = (name: RevocableAuthority): string => `${name}.index`

const EXTENDED_USAGE = { server: 'serverAuth', client: 'clientAuth', both: 'serverAuth,clientAuth' } as const

/** Negative after expiry and without a certificate. */
export function daysLeft(pem: string | null): number {
  if (pem === null) return -1
  return (new Date(new X509Certificate(pem).validTo).getTime() - systemClock.now().getTime()) / 86_400_000
}

export const commonName = (pem: string): string => new X509Certificate(pem).subject.replace(/^CN=/, '')

/** With an empty list. */
export async function ensureAuthority(folder: string, name: AuthorityName): Promise<void> {
  if (!(await exists(join(folder, `${name}.pem`)))) await createAuthority(folder, name)
  if (isRevocable(name) && !(await exists(join(folder, crlFile(name))))) await writeCrl(folder, name)
}

/** In place of one that there may be, with what it has signed for the control plane: nothing else of it is valid any more. */
export async function replaceAuthority(folder: string, name: AuthorityName): Promise<void> {
  await createAuthority(folder, name)
  if (!isRevocable(name)) return
  await rm(join(folder, indexFile(name)), { force: true })
  await writeCrl(folder, name)
  for (const [client, signer] of Object.entries(CLIENTS)) {
    if (signer === name) await createClientCertificate(folder, client, signer, await readFileOrNull(join(folder, `${client}.pem`)))
  }
}

/** The id in the name keeps two installations apart. */
async function createAuthority(folder: string, name: AuthorityName): Promise<void> {
  await withScratchFolder(folder, async (scratch) => {
    const extensions = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign,cRLSign']
    await request(scratch, `berth-${SUBJECTS[name as keyof typeof SUBJECTS] ?? 'migration'}-${newId()}`, AUTHORITY_DAYS, extensions)
    await storeKeyPair(scratch, folder, name)
  })
}

const SUBJECTS = { ca: 'authority', 'network-ca': 'networks', 'chassis-ca': 'chassis' }

/** Under the same name as `known`. */
export async function createClientCertificate(folder: string, name: string, signer: AuthorityName, known: string | null): Promise<void> {
  const subject = known ? commonName(known) : `berth-control-plane-${newId()}`
  await withScratchFolder(folder, async (scratch) => {
    await sign(folder, scratch, signer, { name: subject, usage: 'client', names: [], owner: subject })
    await storeKeyPair(scratch, folder, name)
  })
}

async function storeKeyPair(scratch: string, folder: string, name: string): Promise<void> {
  await chmod(join(scratch, 'key'), 0o600)
  await rename(join(scratch, 'key'), join(folder, `${name}.key`))
  await rename(join(scratch, 'pem'), join(folder, `${name}.pem`))
}

interface Wanted {
  name: string
  usage: keyof typeof EXTENDED_USAGE
  /** Extensions with what it is valid for. */
  names: string[]
  /** By whose address or name it is revoked. */
  owner: string
}

export const issue = (folder: string, signer: AuthorityName, wanted: Wanted): Promise<Identity> =>
  withScratchFolder(folder, async (scratch) => {
    await sign(folder, scratch, signer, wanted)
    return { cert: await readFile(join(scratch, 'pem'), 'utf8'), key: await readFile(join(scratch, 'key'), 'utf8') }
  })

async function sign(folder: string, scratch: string, signer: AuthorityName, { name, usage, names, owner }: Wanted): Promise<void> {
  const by = ['-CA', join(folder, `${signer}.pem`), '-CAkey', join(folder, `${signer}.key`), '-addext', 'basicConstraints=CA:FALSE']
  const use = ['-addext', 'keyUsage=critical,digitalSignature,keyEncipherment', '-addext', `extendedKeyUsage=${EXTENDED_USAGE[usage]}`]
  await request(scratch, name, signer === 'chassis-ca' ? CHASSIS_DAYS : CERTIFICATE_DAYS, [...by, ...use, ...names])
  if (isRevocable(signer)) await record(folder, signer, await readFile(join(scratch, 'pem'), 'utf8'), owner)
}

/** Once. */
export async function record(folder: string, signer: RevocableAuthority, pem: string, owner: string): Promise<void> {
  const { validTo, serialNumber } = new X509Certificate(pem)
  const index = join(folder, indexFile(signer))
  if ((await readFileOrNull(index))?.includes(`\t${serialNumber}\t`)) return
  const line = ['V', utcTime(new Date(validTo)), '', serialNumber, 'unknown', `/CN=${owner}`]
  await appendFile(index, `${line.join('\t')}\n`, { mode: 0o600 })
}

/** Of ASN.1: YYMMDDhhmmssZ. */
const utcTime = (time: Date): string => `${time.toISOString().replace(/\D/g, '').slice(2, 14)}Z`

/** Serial numbers of revoked certificates in an index; those that have ended are left out. */
export function revokedIn(index: string): string[] {
  const now = utcTime(systemClock.now())
  return index.split('\n').flatMap((line) => {
    const [state, expiry, , serial] = line.split('\t')
    return state === 'R' && expiry! > now ? serial! : []
  })
}

/** Answers how many there were. */
export async function revoke(folder: string, name: RevocableAuthority, subject: string): Promise<number> {
  let count = 0
  const file = join(folder, indexFile(name))
  const index = (await readFileOrNull(file)) ?? ''
  const lines = index.split('\n').map((line) => {
    const [state, expiry, , ...rest] = line.split('\t')
    if (state !== 'V' || canonicalAddress(rest.at(-1)!.replace('/CN=', '')) !== canonicalAddress(subject)) return line
    count++
    return ['R', expiry, utcTime(systemClock.now()), ...rest].join('\t')
  })
  await writeFileAtomic(file, lines.join('\n'), 0o600)
  await writeCrl(folder, name)
  return count
}

/** It never ends before its authority: who has an old list would refuse everything then. */
export async function writeCrl(folder: string, name: RevocableAuthority): Promise<void> {
  const index = join(folder, indexFile(name))
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
