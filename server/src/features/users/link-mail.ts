// Emails with a link. Only the email has the link (the database has its hash), so a lost email requires a new request.
import { escapeHtml } from '../../http/server/html-page.ts'
import { newId } from '../../kernel/ids.ts'
import type { Deps } from '../deps.ts'

interface LinkMail {
  subject: string
  paragraphs: string[]
  /** Occurs in a paragraph. */
  url: string
}

export async function sendLinkMail({ clock, mailer }: Pick<Deps, 'clock' | 'mailer'>, to: string, mail: LinkMail): Promise<void> {
  if (!mailer) throw new Error('BUG: there is no SMTP server to send by')
  const { subject, url } = mail
  const paragraphs = [...mail.paragraphs, `This mail was sent to ${to}.`]
  const html = paragraphs.map((each) => `<p>${escapeHtml(each).replace(escapeHtml(url), `<a href="${url}">${url}</a>`)}</p>`)
  await mailer.send({
    messageId: `${newId()}@${mailer.domain}`,
    to,
    date: clock.now(),
    subject,
    text: `${paragraphs.join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en"><body>\n${html.join('\n')}\n</body></html>\n`,
  })
}
