// Sends the mails of invitations. Each attempt makes a new link, because only the hash of one is stored.
import { addDuration } from '../../kernel/clock.ts'
import { newToken, sha256 } from '../../kernel/crypto.ts'
import { MailError } from '../../kernel/net/smtp.ts'
import { getAccount } from '../accounts/service.ts'
import { reconciler, type Deps } from '../deps.ts'
import { findByEmail, findUser, sendLinkMail } from '../users/service.ts'
import { linkAt, PREFIX, SEND } from './invitations.ts'
import * as sql from './sql.ts'

/** Between attempts. */
const PAUSE = '10m'
const ATTEMPTS = 12

export const mailInvitations = reconciler(SEND, '1m', async (deps) => {
  if (deps.mailer) while (await mailNext(deps));
})

/** Strangers choose it, and mail programs make links of what looks like one: nobody is to be led anywhere in our name. */
const plainName = (name: string): string =>
  name
    .replace(/[:/@]|\.(?=\S)/g, ' ')
    .trim()
    .slice(0, 60)

async function mailNext(deps: Deps): Promise<boolean> {
  const { db, clock, log } = deps
  const now = clock.now()
  const secret = newToken(PREFIX)
  const hash = sha256(secret)
  const invitation = await db.tx((tx) => sql.claimMail(tx, now, hash, addDuration(now, PAUSE)))
  if (!invitation) return false
  const { id, email, invited_by, role, mail_attempts, expires_at } = invitation
  const account = await getAccount(db, invitation.account_id)
  const inviter = invited_by === null ? undefined : await findUser(db, invited_by)
  const invitee = await findByEmail(db, email)
  const name = plainName(account.name)
  const link = linkAt(invitation.link_base, secret)
  try {
    await sendLinkMail(deps, email, invitee?.language ?? inviter?.language ?? null, {
      kind: 'invitation',
      values: {
        inviter: inviter?.email ?? account.email ?? account.id,
        account: [name, account.email].filter(Boolean).join(', ') || account.id,
        role,
        until: expires_at.toISOString().slice(0, 10),
        link,
      },
    })
    await sql.endMailing(db, id, hash)
  } catch (err) {
    log.warn({ err, invitationId: id }, 'sending invitation failed')
    const isFinal = (err instanceof MailError && err.isFinal) || mail_attempts >= ATTEMPTS
    if (isFinal) await sql.endMailing(db, id, hash)
  }
  return true
}
