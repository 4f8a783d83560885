// What `berthd setup` is told: by its options, else by a person at the terminal, else by the settings that are there already.
import { readConfig } from '../../config.ts'
import { readSecret } from '../admin/read-secret.ts'
import { UsageError } from '../errors.ts'
import type { Settings } from './settings-file.ts'

export const TLS = ['acme', 'certificate', 'proxy'] as const
export type Tls = (typeof TLS)[number]

export interface SetupOptions {
  domain?: string
  tls?: Tls
  certificate?: string
  key?: string
  acmeDirectory?: string
  acmeRoot?: string
  databaseUrl?: string
  databaseUrlFile?: string
  localDatabase?: boolean
  smtpUrl?: string
  smtpUrlFile?: string
  mailFrom?: string
  hypervisor?: string
}

/** How Caddy was set up before. */
export interface Site {
  tls: Tls
  acmeDirectory: string
}

/** Asks a question, with the answer that Enter gives. */
export type Ask = (question: string, usual: string) => Promise<string>

export interface Answers {
  domain: string
  tls: Tls
  certificate: string
  key: string
  /** For `acme`. Empty: Let's Encrypt. */
  acmeDirectory: string
  /** A file with the root certificate by which the directory is trusted; empty: as it is. */
  acmeRoot: string
  /** Null: PostgreSQL of this machine. */
  databaseUrl: string | null
  smtpUrl: string
  mailFrom: string
  hypervisor: string
}

/** Without a terminal `ask` is null. */
export async function collectAnswers(options: SetupOptions, before: Settings, site: Site | undefined, ask: Ask | null): Promise<Answers> {
  const [databaseUrlGiven, smtpUrlGiven] = [await urlOf(options, 'databaseUrl'), await urlOf(options, 'smtpUrl')]
  if (options.localDatabase && databaseUrlGiven) throw new UsageError('Give either --database-url or --local-database')
  const answer = asker(ask)
  const domain = await answer({
    given: options.domain,
    usual: domainOf(before),
    question: 'Domain of the dashboard and the API',
    option: '--domain',
    check: checkDomain,
  })
  const how = await answer({
    given: options.tls,
    usual: options.certificate
      ? 'certificate'
      : options.acmeDirectory
        ? 'acme'
        : (site?.tls ?? (ask && !before['BERTH_PUBLIC_URL'] ? 'acme' : 'proxy')),
    question: 'TLS: acme (Caddy obtains a certificate), certificate (Caddy with yours) or proxy (your own)',
    check: checkTls,
  })
  if (how !== 'certificate' && (options.certificate ?? options.key) !== undefined)
    throw new UsageError(`--certificate and --key are for --tls certificate, not for --tls ${how}`)
  const ofCertificate = how === 'certificate' && (options.certificate || site?.tls !== 'certificate')
  const file = (option: '--certificate' | '--key', given: string | undefined, question: string): Promise<string> =>
    ofCertificate ? answer({ given, question, option, check: (text) => required(text, option) }) : Promise.resolve('')
  const certificate = await file('--certificate', options.certificate, 'File with the certificate and its chain (PEM)')
  const key = await file('--key', options.key, 'File with its private key (PEM)')
  const acme = acmeOf(options, how as Tls, site)
  const databaseUrl = await answer({
    given: options.localDatabase ? '' : databaseUrlGiven,
    usual: before['BERTH_DATABASE_URL'] ?? '',
    question: 'URL of the database; empty: PostgreSQL of this machine',
    check: (text) => (text === '' ? text : checkUrl(text, '--database-url', 'postgres:', 'postgresql:')),
    ...(!options.localDatabase && !before['BERTH_DATABASE_URL'] && { option: '--database-url or --local-database' }),
  })
  const smtpUrl = await answer({
    given: smtpUrlGiven,
    usual: before['BERTH_SMTP_URL'] ?? '',
    question: 'SMTP server, such as smtp://user:password@mail.example.com:587; empty: no mail',
    check: (text) => (text === '' ? text : checkUrl(text, '--smtp-url', 'smtp:', 'smtps:')),
  })
  const mailFrom = smtpUrl
    ? await answer({
        given: options.mailFrom,
        usual: before['BERTH_MAIL_FROM'] ?? '',
        question: 'Sender of emails, such as Example Cloud <noreply@example.com>',
        check: checkSender,
      })
    : (options.mailFrom ?? before['BERTH_MAIL_FROM'] ?? '')
  const hypervisor = options.hypervisor ?? before['BERTH_HYPERVISOR'] ?? 'libvirt'
  return { domain, tls: how as Tls, certificate, key, ...acme, databaseUrl: databaseUrl || null, smtpUrl, mailFrom, hypervisor }
}

/** With a password in it, a URL is better read from a file: options are in the list of processes. */
async function urlOf(options: SetupOptions, name: 'databaseUrl' | 'smtpUrl'): Promise<string | undefined> {
  const file = options[`${name}File`]
  if (file === undefined) return options[name]
  const option = name === 'databaseUrl' ? '--database-url' : '--smtp-url'
  if (options[name] !== undefined) throw new UsageError(`Give either ${option} or ${option}-file`)
  const url = await readSecret(file)
  if (url === '') throw new UsageError(`${option}-file ${file} is empty`)
  return url
}

/** Never asked for: few have an authority of their own. */
function acmeOf(options: SetupOptions, tls: Tls, site: Site | undefined): Pick<Answers, 'acmeDirectory' | 'acmeRoot'> {
  const acmeRoot = options.acmeRoot ?? ''
  if (tls !== 'acme') {
    if (options.acmeDirectory || acmeRoot) throw new UsageError(`--acme-directory and --acme-root are for --tls acme, not for --tls ${tls}`)
    return { acmeDirectory: '', acmeRoot: '' }
  }
  const acmeDirectory = options.acmeDirectory ?? site?.acmeDirectory ?? ''
  if (acmeDirectory) checkUrl(acmeDirectory, '--acme-directory', 'https:')
  if (!/^[\w.:/~%?=&[\]-]*$/.test(acmeDirectory))
    throw new UsageError(`--acme-directory ${acmeDirectory} is not a URL that Caddy's settings can hold`)
  if (acmeRoot && !acmeDirectory) throw new UsageError("Give --acme-directory: Let's Encrypt needs no --acme-root")
  return { acmeDirectory, acmeRoot }
}

interface Question {
  given: string | undefined
  usual?: string
  question: string
  /** Required without a terminal, unless there is a usual answer. */
  option?: string
  check: (text: string) => string
}

function asker(ask: Ask | null) {
  return async ({ given, usual = '', question, option, check }: Question): Promise<string> => {
    if (given !== undefined) return check(given.trim())
    if (!ask) {
      if (option && usual === '') throw new UsageError(`Give ${option}: without a terminal nothing is asked`)
      return check(usual)
    }
    for (let asked = question; ;) {
      const answer = (await ask(asked, usual)).trim() || usual
      try {
        return check(answer)
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        asked = `${error.message}.\n${question}`
      }
    }
  }
}

/** The settings that follow from the answers, checked together with all others. */
export function settingsFor(answers: Answers, databaseUrl: string, before: Settings): Settings {
  const proxies = answers.tls !== 'proxy' && !before['BERTH_TRUSTED_PROXIES'] ? { BERTH_TRUSTED_PROXIES: '127.0.0.1' } : {}
  const mail = answers.smtpUrl ? { BERTH_SMTP_URL: answers.smtpUrl, BERTH_MAIL_FROM: answers.mailFrom } : {}
  const changes = {
    BERTH_DATABASE_URL: databaseUrl,
    BERTH_PUBLIC_URL: `https://${answers.domain}`,
    BERTH_HYPERVISOR: answers.hypervisor,
    ...proxies,
    ...mail,
  }
  try {
    readConfig({ ...before, ...changes })
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
  return changes
}

const domainOf = (before: Settings): string => URL.parse(before['BERTH_PUBLIC_URL'] ?? '')?.hostname ?? ''

function checkDomain(text: string): string {
  const domain = text.toLowerCase()
  if (!/^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/.test(domain))
    throw new UsageError(`"${text}" is not a domain such as cloud.example.com`)
  return domain
}

function checkTls(text: string): string {
  if (!TLS.some((each) => each === text)) throw new UsageError(`"${text}" is none of ${TLS.join(', ')}`)
  return text
}

function required(text: string, option: string): string {
  if (text === '') throw new UsageError(`${option} must be a file`)
  return text
}

function checkUrl(text: string, option: string, ...protocols: string[]): string {
  if (!protocols.includes(URL.parse(text)?.protocol ?? ''))
    throw new UsageError(`${option} must be a URL that begins with ${protocols[0]}//`)
  return text
}

function checkSender(text: string): string {
  if (text === '') throw new UsageError('With an SMTP server give --mail-from, such as "Example Cloud <noreply@example.com>"')
  if (!/^[^<>@]*<[^<>@\s]+@[^<>@\s]+>$|^[^<>@\s]+@[^<>@\s]+$/.test(text))
    throw new UsageError(`"${text}" is not a sender such as Example Cloud <noreply@example.com>: give --mail-from`)
  return text
}
