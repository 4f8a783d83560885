// A mail of a kind in a language: the text of an operator where there is one, else the one that mails come with. What customers have written into names
// stays on one line in it, and is escaped.
import { escapeHtml } from '../../http/server/html-page.ts'
import { invalid } from '../../kernel/errors.ts'
import { placeholdersOf, type Language, type Mailing, type MailKind } from './mails.schema.ts'
import { MAILS } from './mails.schema.ts'
import type { BrandingSettings } from './schema.ts'
import { SENT_TO, TEXTS } from './texts.ts'

const PLACEHOLDER = /\{([^{}]*)\}/g
const LONGEST_IN_SUBJECT = 60
/** Of the built-in look, in mails: web/src/design/tokens.css. */
const ACCENT = '#0b6e61'

interface EmailContent {
  /** Null: as BERTH_MAIL_FROM has it. */
  senderName: string | null
  subject: string
  text: string
  html: string
}

type Look = Pick<BrandingSettings, 'productName' | 'accentLight' | 'mail'>

export function requireKnownPlaceholders(kind: MailKind, { subject, body }: { subject: string; body: string }, field: string): void {
  const known = placeholdersOf(kind)
  for (const [part, text] of Object.entries({ subject, body })) {
    const unknown = [...text.matchAll(PLACEHOLDER)].map(([, name]) => name!).find((name) => !known.includes(name))
    if (unknown !== undefined)
      throw invalid(
        `{${unknown}} is unknown in mails of this kind, which may name ${known.map((name) => `{${name}}`).join(', ')}`,
        `${field}.${part}`,
      )
  }
  if ('link' in MAILS[kind] && !body.includes('{link}'))
    throw invalid('{link} is missing: without it nobody can follow the mail', `${field}.body`)
}

/** Given the language of who reads it, where that is known. */
export function renderMail(
  { productName, accentLight, mail }: Look,
  mailing: Mailing,
  recipient: string,
  known: string | null,
): EmailContent {
  const language = known === 'de' || known === 'en' ? known : mail.language
  const { kind } = mailing
  const own = mail.texts.find((each) => each.kind === kind && each.language === language)
  const { subject, body } = own ?? TEXTS[language][kind]
  const values: Record<string, string> = { ...mailing.values, product: productName, recipient: line(recipient) }
  const paragraphs = [
    ...paragraphsOf(body, values),
    ...paragraphsOf(mail.signature[language] ?? '', values),
    ...paragraphsOf(SENT_TO[language], values),
  ]
  return {
    senderName: mail.senderName,
    subject: line(fill(subject, values, (value) => cut(value, LONGEST_IN_SUBJECT))),
    text: `${paragraphs.join('\n\n')}\n`,
    html: toHtml(paragraphs, { language, productName, accent: accentLight ?? ACCENT, link: values['link'] }),
  }
}

const fill = (text: string, values: Record<string, string>, shown: (value: string) => string): string =>
  text.replace(PLACEHOLDER, (_, name: string) => shown(values[name] ?? ''))

/** A paragraph that names something that there is not says nothing. */
function paragraphsOf(text: string, values: Record<string, string>): string[] {
  const isEmpty = (paragraph: string): boolean => [...paragraph.matchAll(PLACEHOLDER)].some(([, name]) => !values[name!])
  return text
    .split(/\n\s*\n/)
    .filter((paragraph) => paragraph.trim() !== '' && !isEmpty(paragraph))
    .flatMap((paragraph) => fill(paragraph.trim(), values, (value) => value).split(/\n{2,}/))
}

interface Letter {
  language: Language
  productName: string
  accent: string
  link: string | undefined
}

function toHtml(paragraphs: string[], { language, productName, accent, link }: Letter): string {
  const address = link === undefined ? undefined : escapeHtml(link)
  const body = paragraphs.map((each) => {
    const text = escapeHtml(each).replaceAll('\n', '<br>')
    return `<p>${address === undefined ? text : text.replace(address, () => `<a href="${address}">${address}</a>`)}</p>`
  })
  const head = `<div style="margin-bottom:16px;color:${accent};font-size:18px;font-weight:bold">${escapeHtml(productName)}</div>`
  return `<!doctype html>\n<html lang="${language}"><body>\n${head}\n${body.join('\n')}\n</body></html>\n`
}

/** Removes line breaks, control characters and bidirectional marks. */
export const line = (text: string, longest = 200): string =>
  cut(
    text
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
      .replace(/ {2,}/g, ' ')
      .trim(),
    longest,
  )

export const sentence = (text: string): string => line(text, 400).replace(/\.?$/, '.')

function cut(text: string, longest: number): string {
  const characters = Array.from(text)
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join('')}…`
}
