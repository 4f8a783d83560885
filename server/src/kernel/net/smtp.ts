// Mail through one SMTP server. A password is sent only over TLS, and whatever a text holds, it cannot become a header or another
// recipient. The library is loaded with the first mail: most processes send none.
import type { ConnectionOptions } from 'node:tls'

export interface Mail {
  /** Without angle brackets; the same whenever the same mail is sent again. */
  messageId: string
  to: string
  subject: string
  text: string
  html: string
  date: Date
}

export interface Mailer {
  /** The domain of the sender. */
  readonly domain: string
  /** Answers when the server has taken it; throws a MailError when it has not. */
  send(mail: Mail): Promise<void>
  /** Ends what is under way. */
  close(): void
}

export interface MailerOptions {
  url: string
  from: string
  tls?: ConnectionOptions
  /** How long sending one mail may take in all. */
  timeoutMs?: number
}

export class MailError extends Error {
  /** This mail will never be taken: to try again is pointless. */
  readonly isFinal: boolean
  /** It was not about this mail: no other would have been taken either. */
  readonly isServer: boolean

  constructor(message: string, { isFinal, isServer }: { isFinal: boolean; isServer: boolean }, cause: unknown) {
    super(message, { cause })
    this.isFinal = isFinal
    this.isServer = isServer
  }
}

type Transport = Awaited<ReturnType<typeof connect>>

export function openMailer({ url, from, tls = {}, timeoutMs = 60_000 }: MailerOptions): Mailer {
  const server = readServer(url)
  const sender = readSender(from)
  let opening: Promise<Transport> | undefined
  const drop = (): void => {
    const last = opening
    opening = undefined
    void last?.then((transport) => transport.close({ force: true })).catch(() => {}) // one that never opened needs no end
  }
  return {
    domain: sender.slice(sender.lastIndexOf('@') + 1),
    async send(mail) {
      requireOneAddress(mail.to)
      const transport = await (opening ??= connect({ ...server, tls }))
      const late = setTimeout(drop, timeoutMs) // a server that answers byte by byte would never be late
      try {
        const { to, messageId, ...rest } = mail
        const address = { name: '', address: to }
        await transport.sendMail({ ...rest, ...SAFE, from, to: address, envelope: { from: sender, to: [to] }, messageId: `<${messageId}>` })
      } catch (error) {
        throw toMailError(error)
      } finally {
        clearTimeout(late)
      }
    },
    close: drop,
  }
}

/** Whatever could be read as more than one address: the library would look for others in it. */
const NOT_ONE_ADDRESS = /[\s\p{Cc}<>()[\]\\,;:"]|@.*@|^@|@$|^[^@]*$/u

function requireOneAddress(to: string): void {
  if (NOT_ONE_ADDRESS.test(to))
    throw new MailError(`${JSON.stringify(to)} is not a mail address`, { isFinal: true, isServer: false }, undefined)
}

const SAFE = { disableFileAccess: true, disableUrlAccess: true, headers: { 'Auto-Submitted': 'auto-generated' } }

interface Server {
  host: string
  port: number
  secure: boolean
  requireTLS: boolean
  auth?: { user: string; pass: string }
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/

function readServer(text: string): Server {
  const url = URL.parse(text)
  const secure = url?.protocol === 'smtps:'
  // The URL is not quoted: it may hold a password.
  if (!url || !(secure || url.protocol === 'smtp:') || url.hostname === '')
    throw new Error('BERTH_SMTP_URL must be like smtp://user:password@mail.example.com:587, or smtps:// for TLS from the first byte')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const auth = url.username ? { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } : undefined
  const requireTLS = auth !== undefined && !LOOPBACK.test(host)
  return { host, port: Number(url.port) || (secure ? 465 : 587), secure, requireTLS, ...(auth && { auth }) }
}

/** The bare address of `Name <address>` or `address`. */
function readSender(from: string): string {
  const match = /^(?:[^<>\p{Cc}]*<([^<>@\s]+@[^<>@\s]+)>|([^<>@\s,;]+@[^<>@\s,;]+))$/u.exec(from.trim())
  if (!match) throw new Error(`BERTH_MAIL_FROM must be like "Example Cloud <noreply@example.com>", not "${from}"`)
  return (match[1] ?? match[2])!
}

/** One connection at a time, kept for a moment. What fails is tried again by whoever keeps the mail, not in here. */
async function connect(options: Server & { tls: ConnectionOptions }) {
  const { createTransport } = await import('nodemailer')
  const waits = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, dnsTimeout: 10_000 }
  return createTransport({ ...options, ...waits, pool: true, maxConnections: 1, maxRequeues: 0, idleTimeout: 5_000 })
}

interface SmtpError extends Error {
  code?: string
  command?: string
  responseCode?: number
  permanent?: boolean
}

/** What was asked for this one mail and not for the connection. A sender that is refused is a setting that is wrong. */
const OF_THIS_MAIL = ['RCPT TO', 'DATA']

function toMailError(error: unknown): MailError {
  const { message, code, command = '', responseCode, permanent } = error as SmtpError
  if (code === 'EENVELOPE' && responseCode === undefined) return new MailError(message, { isFinal: true, isServer: false }, error)
  const isOwn = OF_THIS_MAIL.includes(command) && responseCode !== undefined && responseCode !== 421
  return new MailError(message, { isFinal: isOwn && permanent === true, isServer: !isOwn }, error)
}
