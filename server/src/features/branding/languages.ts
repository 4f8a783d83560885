import { LANGUAGES, type Language } from './mails.schema.ts'

/** The first one that mails are written in, of those in the header `Accept-Language`: browsers list them by preference. */
export function languageOf(header: string | undefined): Language | null {
  const wanted = (header ?? '').split(',').map((each) => each.trim().slice(0, 2).toLowerCase())
  return wanted.map((each) => LANGUAGES.find((language) => language === each)).find((each) => each !== undefined) ?? null
}
