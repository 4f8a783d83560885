// The language of the dashboard: what the user chose, else the first one of the browser that exists, else English.
/** Each in its own words. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const

type Language = keyof typeof LANGUAGES

const KEY = 'berth:language'
const FALLBACK: Language = 'en'

const isLanguage = (text: string | null): text is Language => text !== null && Object.hasOwn(LANGUAGES, text)

const languageOf = (locale: string): string => locale.toLowerCase().split('-')[0]!

export const preferredLanguage = (chosen: string | null, locales: readonly string[]): Language =>
  isLanguage(chosen) ? chosen : (locales.map(languageOf).find(isLanguage) ?? FALLBACK)

/** For numbers and dates: the browser's own variant of the language, such as de-AT. */
export const preferredLocale = (of: Language, locales: readonly string[]): string =>
  locales.find((locale) => languageOf(locale) === of) ?? of

const isBrowser = typeof document !== 'undefined'

/** Null too where the browser refuses to store anything. */
function chosenLanguage(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

export const language: Language = isBrowser ? preferredLanguage(chosenLanguage(), navigator.languages) : FALLBACK

export const locale: string = isBrowser ? preferredLocale(language, navigator.languages) : FALLBACK

if (isBrowser) document.documentElement.lang = language

/** A full page load, because every module has its words from its beginning. */
export function chooseLanguage(chosen: string): void {
  localStorage.setItem(KEY, chosen)
  location.reload()
}
