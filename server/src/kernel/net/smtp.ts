// Sends email through one SMTP server. A password is sent only over TLS, and no text can inject a header or a recipient. nodemailer is
// loaded with the first email.
import type { ConnectionOptions } from 'node:tls'
import { isEmailAddress } from './email-address.ts'

export interface Mail {
  /** Without angle brackets; unchanged on retries. */
  messageId: string
  to: string
  /** In place of the name that the sender has in the settings. */
  senderName?: string | null
  subject: string
  text: string
  html: string
  date: Date
}

export interface Mailer {
  /** The domain of the sender. */
  readonly domain: string
  /** Resolves when the server has accepted the email, otherwise rejects with a MailError. */
  send(mail: Mail): Promise<void>
  /** Closes open connections. */
  close(): void
}

export interface MailerOptions {
  url: string
  from: string
  tls?: ConnectionOptions
  /** Limit for sending one email. */
  timeoutMs?: number
}

export class MailError extends Error {
  /** Permanent: a retry is pointless. */
  readonly isFinal: boolean
  /** Not specific to this email: no other would have been accepted either. */
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
    void last?.then((transport) => transport.close({ force: true })).catch(() => {}) // a transport that failed to open needs no close
  }
  return {
    domain: sender.slice(sender.lastIndexOf('@') + 1),
    async send(mail) {
      requireOneAddress(mail.to)
      const transport = await (opening ??= connect({ ...server, tls }))
      const late = setTimeout(drop, timeoutMs) // nodemailer's socket timeout never fires for a server that responds byte by byte
      try {
        const { to, messageId, senderName, ...rest } = mail
        const address = { name: '', address: to }
        const named = senderName ? { name: senderName, address: sender } : from
        await transport.sendMail({
          ...rest,
          ...SAFE,
          from: named,
          to: address,
          envelope: { from: sender, to: [to] },
          messageId: `<${messageId}>`,
        })
      } catch (error) {
        throw toMailError(error)
      } finally {
        clearTimeout(late)
      }
    },
    close: drop,
  }
}

/** nodemailer would parse other text as several addresses. */
function requireOneAddress(to: string): void {
  if (!isEmailAddress(to)) throw new MailError(`${JSON.stringify(to)} is not a mail address`, { isFinal: true, isServer: false }, undefined)
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
  // Not quoted in the error: it may contain a password.
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

/** One connection at a time, kept for five seconds. Retries are the caller's. */
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

/** Commands about this email, not the connection. A rejected sender (MAIL FROM) is a configuration error. */
const OF_THIS_MAIL = ['RCPT TO', 'DATA']

function toMailError(error: unknown): MailError {
  const { message, code, command = '', responseCode, permanent } = error as SmtpError
  if (code === 'EENVELOPE' && responseCode === undefined) return new MailError(message, { isFinal: true, isServer: false }, error)
  const isOwn = OF_THIS_MAIL.includes(command) && responseCode !== undefined && responseCode !== 421
  return new MailError(message, { isFinal: isOwn && permanent === true, isServer: !isOwn }, error)
}
