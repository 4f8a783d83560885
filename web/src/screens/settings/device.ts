import { settingsMessages } from '../../words/words.ts'

const w = settingsMessages.sessions

// Order matters: the user agents of most browsers also contain the names of others.
const BROWSERS: [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const SYSTEMS: [RegExp, string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
]

const find = (list: [RegExp, string][], text: string): string | undefined => list.find(([pattern]) => pattern.test(text))?.[1]

export function deviceOf(userAgent: string): string {
  const browser = find(BROWSERS, userAgent)
  const system = find(SYSTEMS, userAgent)
  return browser && system ? w.deviceName(browser, system) : (browser ?? (userAgent.slice(0, 60) || w.unknown))
}
