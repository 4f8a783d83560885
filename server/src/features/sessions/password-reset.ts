// Password reset. The response is immediate and always the same, so that it does not reveal whether the user exists. Only the
// email has the link (the database has its hash), so a lost email requires a new request.
import { toUserAuditRecord } from '../../http/api/audit.ts'
import type { Counters } from '../../kernel/database/window-counters.ts'
import { parseDurationMs } from '../../kernel/clock.ts'
import { newId } from '../../kernel/ids.ts'
import { escapeHtml } from '../../http/server/html-page.ts'
import type { Deps } from '../deps.ts'
import type { ClientInfo } from './sign-in.ts'
import { findByEmail, issuePasswordLink, type UserRow } from '../users/service.ts'

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
  const { url } = await db.tx((tx) => {
    deps.audit.recordSuccess(tx, toUserAuditRecord(visitor, user, 202, null))
    return issuePasswordLink(tx, clock.now(), user.id, base, LIFE)
  })
  await mailer.send({ messageId: `${newId()}@${mailer.domain}`, to: user.email, date: clock.now(), ...letter(user, url) })
}

function letter({ email }: UserRow, url: string): { subject: string; text: string; html: string } {
  const paragraphs = [
    'Somebody, hopefully you, asked for a new password of the dashboard.',
    `Set it here within an hour: ${url}`,
    'If it was not you, do nothing: your password stays as it is.',
    `This mail was sent to ${email}.`,
  ]
  const html = paragraphs.map((each) => `<p>${escapeHtml(each).replace(escapeHtml(url), `<a href="${url}">${url}</a>`)}</p>`)
  return {
    subject: 'Set a new password',
    text: `${paragraphs.join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en"><body>\n${html.join('\n')}\n</body></html>\n`,
  }
}
