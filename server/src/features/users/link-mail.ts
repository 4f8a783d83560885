// Emails with a link. Only the email has the link (the database has its hash), so a lost email requires a new request.
import { newId } from '../../kernel/ids.ts'
import type { Mailing } from '../branding/mails.schema.ts'
import { renderMail } from '../branding/service.ts'
import type { Deps } from '../deps.ts'

type LinkMailing = Extract<Mailing, { values: { link: string } }>

/** `language`: of whom it is for; null where it is not known. */
export async function sendLinkMail(
  { clock, mailer, branding }: Pick<Deps, 'clock' | 'mailer' | 'branding'>,
  to: string,
  language: string | null,
  mail: LinkMailing,
): Promise<void> {
  if (!mailer) throw new Error('BUG: there is no SMTP server to send by')
  const { settings } = await branding.current()
  await mailer.send({ messageId: `${newId()}@${mailer.domain}`, to, date: clock.now(), ...renderMail(settings, mail, to, language) })
}
