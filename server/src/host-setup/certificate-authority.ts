// The control plane's certificate authority, in `pki/` of the data folder. It signs the server certificates of hosts and the client
// certificate of the control plane, with the openssl command because Node can read certificates but not sign them. ca.key allows
// impersonating any host and the control plane.
import { X509Certificate } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { systemClock } from '../kernel/clock.ts'
import { newId } from '../kernel/ids.ts'
import { withFileLock } from '../kernel/file-lock.ts'
import { exists, run } from './shell.ts'

export const pkiFolder = (dataDir: string): string => join(dataDir, 'pki')

/** In days. Host certificates are renewed by the operator, the client certificate by the worker. */
const AUTHORITY_DAYS = 3650
const CERTIFICATE_DAYS = 825
export const RENEW_DAYS = 60

export interface Identity {
  cert: string
  key: string
}

export interface Authority {
  ca: string
  /** Common name of the client certificate. */
  name: string
  /** Issues a server certificate for the host at this address or name. */
  issue(address: string): Promise<Identity>
}

/**
 * Creates what is missing, renews the client certificate before it expires, and opens the authority. The file lock serialises processes.
 */
export async function openAuthority(dataDir: string): Promise<Authority> {
  const folder = pkiFolder(dataDir)
  const file = (name: string): string => join(folder, name)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await withFileLock(file('lock'), async () => {
    if (!(await exists(file('ca.pem')))) await createAuthority(folder)
    if (daysLeft(await readFile(file('client.pem'), 'utf8').catch(() => null)) < RENEW_DAYS) await createClientCertificate(folder)
  })
  const client = new X509Certificate(await readFile(file('client.pem')))
  return {
    ca: await readFile(file('ca.pem'), 'utf8'),
    name: client.subject.replace(/^CN=/, ''),
    issue: (address) =>
      withScratchFolder(folder, async (scratch) => {
        const names = `subjectAltName=${isIP(address) ? 'IP' : 'DNS'}:${address}`
        await sign(folder, scratch, address, ['-addext', 'extendedKeyUsage=serverAuth', '-addext', names])
        return { cert: await readFile(join(scratch, 'pem'), 'utf8'), key: await readFile(join(scratch, 'key'), 'utf8') }
      }),
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

/** The id in the name keeps two installations apart. */
async function createAuthority(folder: string): Promise<void> {
  await withScratchFolder(folder, async (scratch) => {
    const extensions = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign,cRLSign']
    await request(scratch, `berth-authority-${newId()}`, AUTHORITY_DAYS, extensions)
    await storeKeyPair(scratch, folder, 'ca')
  })
}

async function createClientCertificate(folder: string): Promise<void> {
  const known = await readFile(join(folder, 'client.pem'), 'utf8').catch(() => null)
  const name = known ? new X509Certificate(known).subject.replace(/^CN=/, '') : `berth-control-plane-${newId()}`
  await withScratchFolder(folder, async (scratch) => {
    await sign(folder, scratch, name, ['-addext', 'extendedKeyUsage=clientAuth'])
    await storeKeyPair(scratch, folder, 'client')
  })
}

/** Renames the key first: where the certificate exists, its key does too. */
async function storeKeyPair(scratch: string, folder: string, name: string): Promise<void> {
  await chmod(join(scratch, 'key'), 0o600)
  await rename(join(scratch, 'key'), join(folder, `${name}.key`))
  await rename(join(scratch, 'pem'), join(folder, `${name}.pem`))
}

async function sign(folder: string, scratch: string, name: string, extensions: string[]): Promise<void> {
  const signer = ['-CA', join(folder, 'ca.pem'), '-CAkey', join(folder, 'ca.key'), '-addext', 'basicConstraints=CA:FALSE']
  const usage = ['-addext', 'keyUsage=critical,digitalSignature,keyEncipherment']
  await request(scratch, name, CERTIFICATE_DAYS, [...signer, ...usage, ...extensions])
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
