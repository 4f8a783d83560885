import type { Language, MailTexts } from './mails.schema.ts'
import { german } from './texts.de.ts'
import { english } from './texts.en.ts'

export const TEXTS: Record<Language, MailTexts> = { en: english, de: german }

/** The last line of every mail. */
export const SENT_TO: Record<Language, string> = {
  en: 'This mail was sent to {recipient}.',
  de: 'Diese E-Mail ging an {recipient}.',
}
