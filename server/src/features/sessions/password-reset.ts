// Password reset. The response is immediate and always the same, so that it does not reveal whether the user exists.
import { toUserAuditRecords } from '../../http/api/audit.ts'
import type { Counters } from '../../kernel/database/window-counters.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import { line } from '../branding/service.ts'
import type { Deps } from '../deps.ts'
import { listIdentities } from '../identities/service.ts'
import type { ClientInfo } from './sign-in.ts'
import { accountsOf, findByEmail, issuePasswordLink, sendLinkMail } from '../users/service.ts'

const LIFE = '1h'
const MAILS_PER_HOUR = 3

type ResetDeps = Pick<Deps, 'db' | 'clock' | 'audit' | 'mailer' | 'branding'>

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
  const linked = (await listIdentities(db, user.id)).map(({ title, label }) => (label === '' ? title : `${title} (${label})`))
  const values = { link: url, identities: linked.map((each) => line(each)).join(', ') }
  await sendLinkMail(deps, user.email, user.language, { kind: 'password_reset', values })
}
