// Caddy in front of the API, with a certificate that it obtains itself (ACME) or with the operator's. What is ours lies in a folder of our own, which
// the Caddyfile of the machine imports.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists, findCommand, hasSystemd, run, writeFileAtomic } from '../../host-setup/shell.ts'
import { systemClock } from '../../kernel/clock.ts'
import { findUser } from '../../kernel/os-user.ts'
import { UsageError } from '../errors.ts'
import type { Answers, Site } from './answers.ts'

export interface CaddyFiles {
  /** Of the machine. */
  caddyfile: string
  /** Ours. */
  folder: string
}

const site = ({ folder }: CaddyFiles): string => join(folder, 'berth.caddy')
const certificateFile = ({ folder }: CaddyFiles): string => join(folder, 'certificate.pem')
const keyFile = ({ folder }: CaddyFiles): string => join(folder, 'key.pem')
const acmeRootFile = ({ folder }: CaddyFiles): string => join(folder, 'acme-root.pem')

/** What an earlier setup has chosen. */
export async function findSite(files: CaddyFiles): Promise<Site | undefined> {
  const text = await readFile(site(files), 'utf8').catch(() => null)
  if (text === null) return undefined
  return { tls: /^\ttls \//m.test(text) ? 'certificate' : 'acme', acmeDirectory: /^\t\tca (.*)$/m.exec(text)?.[1] ?? '' }
}

/** Reads and checks everything first. Returns what puts it in force. */
export async function planCaddy(answers: Answers, files: CaddyFiles, upstream: string): Promise<() => Promise<void>> {
  if (answers.tls === 'proxy') return () => removeSite(files)
  const caddy = (await findCommand('caddy')) && (await findUser('caddy'))
  if (!caddy || !(await exists(files.caddyfile)))
    throw new UsageError('Caddy is not installed: sudo apt install caddy, or --tls proxy with a proxy of your own. Nothing was changed')
  const pair = answers.certificate ? await readPair(answers) : null
  const root = answers.acmeRoot ? await readRoot(answers.acmeRoot) : null
  const keepsRoot = (await findSite(files))?.acmeDirectory === answers.acmeDirectory
  return async () => {
    await mkdir(files.folder, { recursive: true, mode: 0o755 })
    if (pair) {
      await writeFileAtomic(certificateFile(files), pair.certificate)
      await writeFile(`${keyFile(files)}.new`, '', { mode: 0o640 })
      await chown(`${keyFile(files)}.new`, 0, caddy.gid)
      await writeFileAtomic(keyFile(files), pair.key, 0o640)
    }
    if (root) await writeFileAtomic(acmeRootFile(files), root)
    else if (!keepsRoot) await rm(acmeRootFile(files), { force: true })
    await writeFileAtomic(site(files), `${answers.domain} {\n${await tlsLines(answers, files)}\treverse_proxy ${upstream}\n}\n`)
    await importSite(files)
    await reload()
  }
}

/** Without them Caddy asks Let's Encrypt, and ZeroSSL where that fails. */
async function tlsLines({ tls, acmeDirectory }: Answers, files: CaddyFiles): Promise<string> {
  if (tls === 'certificate') return `\ttls ${certificateFile(files)} ${keyFile(files)}\n`
  if (!acmeDirectory) return ''
  const root = (await exists(acmeRootFile(files))) ? `\t\tca_root ${acmeRootFile(files)}\n` : ''
  return `\ttls {\n\t\tca ${acmeDirectory}\n${root}\t}\n`
}

const read = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(`${file} cannot be read: ${error.message}`)
  })

function parse<T>(file: string, what: string, make: () => T): T {
  try {
    return make()
  } catch {
    throw new UsageError(`${file} is not ${what} in PEM`)
  }
}

async function readRoot(file: string): Promise<string> {
  const text = await read(file)
  parse(file, 'a certificate', () => new X509Certificate(text))
  return text
}

async function readPair({ certificate, key, domain }: Answers): Promise<{ certificate: string; key: string }> {
  const texts = { certificate: await read(certificate), key: await read(key) }
  const parsed = parse(certificate, 'a certificate', () => new X509Certificate(texts.certificate))
  const secret = parse(key, 'a private key without password', () => createPrivateKey(texts.key))
  if (!parsed.checkPrivateKey(secret)) throw new UsageError(`${key} is not the key of ${certificate}`)
  if (!parsed.checkHost(domain))
    throw new UsageError(`${certificate} is not for ${domain} but for ${parsed.subjectAltName ?? parsed.subject}`)
  if (parsed.validToDate <= systemClock.now()) throw new UsageError(`${certificate} has expired: ${parsed.validTo}`)
  return texts
}

/** A pattern, so that Caddy starts also when our folder is gone. */
async function importSite(files: CaddyFiles): Promise<void> {
  const before = await readFile(files.caddyfile, 'utf8')
  const line = `import ${files.folder}/*.caddy`
  if (!before.split('\n').includes(line)) await writeFile(files.caddyfile, `${before.replace(/\n?$/, '\n')}\n${line}\n`)
  try {
    await run('caddy', 'validate', '--config', files.caddyfile, '--adapter', 'caddyfile')
  } catch (error) {
    await writeFile(files.caddyfile, before)
    throw new Error(`Caddy refuses its settings, so ${files.caddyfile} is as it was: ${(error as Error).message}`, { cause: error })
  }
}

async function removeSite(files: CaddyFiles): Promise<void> {
  if (!(await exists(site(files)))) return
  await rm(files.folder, { recursive: true })
  await reload()
}

async function reload(): Promise<void> {
  if (await hasSystemd()) await run('systemctl', 'reload-or-restart', 'caddy.service')
}
