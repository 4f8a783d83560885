// A mail that is due is deleted once it was sent. Each attempt makes a new link, because only the hash of one is stored.
import { addDuration, subtractDuration } from '../../kernel/clock.ts'
import { MailError } from '../../kernel/net/smtp.ts'
import { line } from '../branding/service.ts'
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
    const values = { provider: line(mail.provider_title), account: line(mail.label), link: url }
    await sendLinkMail(deps, mail.email, mail.language, { kind: KINDS[mail.kind], values })
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

const KINDS = {
  LINKED: 'identity_linked',
  UNLINKED: 'identity_unlinked',
  REMOVED: 'identity_removed',
  LAST_REMOVED: 'identity_removed_last',
} as const
