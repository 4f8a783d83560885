import { describe, expect, test } from 'vitest'
import { accentsOf } from './accent.ts'
import { languageOf } from './languages.ts'
import { LANGUAGES, MAIL_KINDS, MAILS, placeholdersOf, type Mailing } from './mails.schema.ts'
import { renderMail } from './render.ts'
import { DEFAULTS } from './skin.ts'
import { TEXTS } from './texts.ts'

const all = MAIL_KINDS.flatMap((kind) => LANGUAGES.map((language) => ({ kind, language })))
const mailing = (kind: (typeof MAIL_KINDS)[number]): Mailing => ({ kind, values: MAILS[kind] }) as Mailing

describe('mails', () => {
  test.each(all)('$kind in $language name what there is, and nothing else', ({ kind, language }) => {
    const { subject, body } = TEXTS[language][kind]
    const named = [...`${subject} ${body}`.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name!)
    expect(named.filter((name) => !placeholdersOf(kind).includes(name))).toEqual([])
    expect(Object.keys(MAILS[kind]).filter((name) => !named.includes(name))).toEqual([])
    const { text, html } = renderMail(DEFAULTS, mailing(kind), 'ada@example.com', language)
    expect(text).not.toMatch(/[{}]|undefined/)
    expect(html).toMatch(new RegExp(`<html lang="${language}">`))
  })

  test('say the same in both languages', () => {
    const named = (text: string) => [...new Set([...text.matchAll(/\{[^}]*\}/g)].map(([name]) => name))].toSorted()
    for (const kind of MAIL_KINDS) {
      const [english, german] = [TEXTS.en[kind], TEXTS.de[kind]]
      expect([kind, named(english.body + english.subject)]).toEqual([kind, named(german.body + german.subject)])
      expect(german.body).not.toBe(english.body)
    }
  })

  test('leave out a paragraph about what there is not', () => {
    const values = { ...MAILS.identity_linked, account: '' }
    const { text } = renderMail(DEFAULTS, { kind: 'identity_linked', values }, 'ada@example.com', 'en')
    expect(text).not.toContain('The account there')
    expect(text).toContain('linked an account of Example Inc.')
  })

  test('make a link of the address alone', () => {
    const link = 'https://example.com/a?b=1&c="'
    const { html, text } = renderMail(DEFAULTS, { kind: 'sign_up', values: { link } }, 'ada@example.com', null)
    expect(text).toContain(link)
    expect(html).toContain('<a href="https://example.com/a?b=1&amp;c=&quot;">https://example.com/a?b=1&amp;c=&quot;</a>')
  })
})

test('the language is the first that mails are written in', () =>
  expect(['de', 'fr, en-GB;q=0.7, de', 'DE-at', 'fr', '', undefined].map(languageOf)).toEqual(['de', 'en', 'de', null, null, null]))

describe('shades', () => {
  const luminance = (hex: string): number => {
    const [red, green, blue] = [1, 3, 5]
      .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
      .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)) as [number, number, number]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const contrast = (one: string, other: string): number => {
    const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number]
    return (light + 0.05) / (dark + 0.05)
  }

  test.each(['#0b6e61', '#000000', '#5b21b6', '#b91c1c', '#1d4ed8', '#0000ff', '#ff0000', '#8a6d00', '#767676'])(
    'of %s keep what is written in them readable',
    (colour) => {
      const { light, dark } = accentsOf(colour, colour)
      for (const ground of ['#ffffff', '#f4f6f5', '#ecf0ee', light.soft]) expect(contrast(light.text, ground)).toBeGreaterThanOrEqual(4.5)
      for (const ground of ['#0c1413', '#121c1a', '#243230', dark.soft]) expect(contrast(dark.text, ground)).toBeGreaterThanOrEqual(4.5)
    },
  )
})
