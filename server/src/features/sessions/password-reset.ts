// Password reset. The response is immediate and always the same, so that it does not reveal whether the user exists.
import { toUserAuditRecords } from '../../http/api/audit.ts'
import type { Counters } from '../../kernel/database/window-counters.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import type { Deps } from '../deps.ts'
import { listIdentities } from '../identities/service.ts'
import type { ClientInfo } from './sign-in.ts'
import { accountsOf, findByEmail, issuePasswordLink, sendLinkMail } from '../users/service.ts'

const LIFE = '1h'
const MAILS_PER_HOUR = 3

type ResetDeps = Pick<Deps, 'db' | 'clock' | 'audit' | 'mailer'>

/** `base`: URL of the dashboard. Never taken from the request, because its sender would control the link's host. */
export async function mailReset(deps: ResetDeps, counters: Counters, base: string, email: string, visitor: ClientInfo): Promise<void> {
  const { db, clock, mailer } = deps
  const user = await findByEmail(db, email)
  if (!user || !mailer) return
  const { count } = await counters.add(`reset:${user.id}`, 1, parseDurationMs('1h'))
  if (count > MAILS_PER_HOUR) return
  const { url } = await db.tx(async (tx) => {
    const accounts = await accountsOf(tx, user.id)
    for (const record of toUserAuditRecords(visitor, { ...user, accounts }, 202, null)) deps.audit.recordSuccess(tx, record)
    return issuePasswordLink(tx, clock.now(), user.id, base, LIFE)
  })
  const linked = (await listIdentities(db, user.id)).map(({ title, label }) => (label === '' ? title : `${title} as ${label}`))
  const paragraphs = [
    'Somebody, hopefully you, asked for a new password of the dashboard.',
    `Set it here within an hour: ${url}`,
    ...(linked.length === 0
      ? []
      : [
          `These sign you in too, and a new password does not change that: ${linked.join(', ')}. Unlink what is not yours under Security in the settings.`,
        ]),
    'If it was not you, do nothing: your password stays as it is.',
  ]
  await sendLinkMail(deps, user.email, { subject: 'Set a new password', paragraphs, url })
}
