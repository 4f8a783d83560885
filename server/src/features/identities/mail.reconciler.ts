// A mail that is due is deleted once it was sent. Each attempt makes a new link, because only the hash of one is stored.
import { addDuration, subtractDuration } from '../../kernel/clock.ts'
import { MailError } from '../../kernel/net/smtp.ts'
import { reconciler, type Deps } from '../deps.ts'
import { issuePasswordLink, sendLinkMail } from '../users/service.ts'
import { SEND } from './mails.ts'
import * as sql from './sql.ts'

/** Between attempts. */
const PAUSE = '10m'
const ATTEMPTS = 12
/** Of a link to a password. */
const LIFE = '7d'
/** While no mail is sent, those there are are kept for so long. */
const UNSENT = '1h'

export const mailIdentities = reconciler(SEND, '1m', async (deps) => {
  if (!deps.mailer) return sql.dropMailsBefore(deps.db, subtractDuration(deps.clock.now(), UNSENT))
  while (await mailNext(deps));
})

async function mailNext(deps: Deps): Promise<boolean> {
  const { db, clock, log } = deps
  const now = clock.now()
  const claimed = await db.tx((tx) => claim(tx, now))
  if (!claimed) return false
  const { mail, url } = claimed
  try {
    await sendLinkMail(deps, mail.email, { ...TEXTS[mail.kind](mail, url), url })
    await sql.deleteMail(db, mail.id)
  } catch (err) {
    log.warn({ err, mailId: mail.id }, 'sending mail about identity failed')
    if ((err instanceof MailError && err.isFinal) || mail.attempts >= ATTEMPTS) await sql.deleteMail(db, mail.id)
  }
  return true
}

type Mail = NonNullable<Awaited<ReturnType<typeof sql.claimMail>>>

async function claim(tx: Parameters<typeof sql.claimMail>[0], now: Date): Promise<{ mail: Mail; url: string } | undefined> {
  const mail = await sql.claimMail(tx, now, addDuration(now, PAUSE))
  if (!mail) return undefined
  const base = mail.link_base
  if (mail.kind !== 'LAST_REMOVED') return { mail, url: `${base}/settings` }
  return { mail, url: (await issuePasswordLink(tx, now, mail.user_id, base, LIFE)).url }
}

const as = ({ label }: Mail): string => (label === '' ? '' : `, as ${label}`)

const TEXTS: Record<Mail['kind'], (mail: Mail, url: string) => { subject: string; paragraphs: string[] }> = {
  LINKED: (mail, url) => ({
    subject: `You can sign in with ${mail.provider_title} now`,
    paragraphs: [
      `Somebody, hopefully you, linked an account of ${mail.provider_title} to yours${as(mail)}: it signs in from now on.`,
      `If it was not you, unlink it at once under Security in the settings, and change your password: ${url}`,
    ],
  }),
  UNLINKED: (mail, url) => ({
    subject: `${mail.provider_title} signs you in no more`,
    paragraphs: [
      `Somebody, hopefully you, unlinked the account of ${mail.provider_title} from yours${as(mail)}.`,
      `If it was not you, change your password under Security in the settings, and unlink there what else signs in and is not yours: ${url}`,
    ],
  }),
  REMOVED: (mail, url) => ({
    subject: `${mail.provider_title} signs you in no more`,
    paragraphs: [
      `Signing in with ${mail.provider_title} is offered no more, so your account of it is unlinked${as(mail)}.`,
      `Sign in as you otherwise do. What signs you in is listed under Security in the settings: ${url}`,
    ],
  }),
  LAST_REMOVED: (mail, url) => ({
    subject: `Set a password: ${mail.provider_title} signs you in no more`,
    paragraphs: [
      `Signing in with ${mail.provider_title} is offered no more, and it was your only way in${as(mail)}.`,
      `Set a password here within 7 days: ${url}`,
      'After that, ask for another link where you sign in.',
    ],
  }),
}
