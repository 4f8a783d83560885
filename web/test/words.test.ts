// Every word exists in every language, says something else in each, and takes what it is given.
import { WEBHOOK_EVENTS } from '@berth/sdk'
import { describe, expect, test } from 'vitest'
import { examplePayload } from '../src/screens/events/example.ts'
import * as de from '../src/words/de/index.ts'
import * as deAudit from '../src/words/de/audit-actions.ts'
import * as en from '../src/words/en/index.ts'
import * as enAudit from '../src/words/en/audit-actions.ts'
import { preferredLanguage, preferredLocale } from '../src/words/language.ts'

/** Words that German customers of hosting use as they are, names, and what is typed or pressed. */
const SAME_IN_BOTH =
  '1 h | 24 h | 6 h | BIOS | Backup | Backups | Budget | CLI | CPU | CPUs | Ceph RBD | DHCP | Distribution | Firewall | Firewalls | Firmware | Gateway | Host | Hostname | Hosts | ID | ISO | Image | Images | Information | Internet | Labels | Limit | Limits | Live | Logo | Name | Peering | Peerings | Ping | Pool | Port | Ports | Position | Private IPv4 | Region | Reverse DNS | Route | Runbook | SSH | Schema | Snapshot | Snapshots | Status | Support | System | Text | Tickets | Traffic | TypeScript | UEFI | URL | Upgrade | Uplink | VM | VMs | Version | Volume | Volumes | Webhook | Webhooks | WireGuard | Workflow | curl | env=prod | env=prod,!old | libvirt | snapshot | vCPU | ⌘ K'.split(
    ' | ',
  )

type Leaf = [path: string, english: unknown, german: unknown]

function* leaves(english: unknown, german: unknown, path = ''): Generator<Leaf> {
  if (typeof english !== 'object' || english === null) return yield [path, english, german]
  expect(Object.keys(german as object), `keys of ${path}`).toEqual(Object.keys(english))
  for (const [key, value] of Object.entries(english))
    yield* leaves(value, (german as Record<string, unknown>)[key], path ? `${path}.${key}` : key)
}

const { eventSentences: englishSentences, ...english } = { ...en }
const { eventSentences: germanSentences, ...german } = { ...de }
const all = [...leaves(english, german), ...leaves(enAudit, deAudit)]
const texts = all.filter((leaf): leaf is [string, string, string] => typeof leaf[1] === 'string')
const functions = all.filter(([, value]) => typeof value === 'function') as [string, Sentence, Sentence][]

type Sentence = (...values: unknown[]) => unknown

/** Every value looks like no other, so that it is found again in the text. */
const SAMPLES: unknown[][] = [
  [4711, 4712, 4713, 4714],
  ['anna', 'berta', 'clara', 'dora'],
  [['anna'], ['berta'], ['clara'], ['dora']],
  ['anna', 4712, 4713, 4714],
  ['anna', 'berta', 4713, 4714],
]

const said = (sentence: Sentence, values: unknown[]): string | undefined => {
  try {
    return JSON.stringify(sentence(...values))
  } catch {
    return undefined // not the type that it takes
  }
}

const taken = (text: string, values: unknown[]): unknown[] => values.flat().filter((value) => text.includes(String(value)))

test('German says something else, or is named as a word of both languages', () => {
  const same = texts.filter(([, one, other]) => one === other && /\p{L}/u.test(one)).map(([, one]) => one)
  expect([...new Set(same)].toSorted()).toEqual(SAME_IN_BOTH.toSorted())
})

test('no text is empty', () => expect(all.filter(([, one, other]) => !one || !other).map(([path]) => path)).toEqual([]))

const WRONG = /undefined|NaN|\[object/

test.each(functions)('%s takes the same in both languages', (_, one, other) => {
  const usable = SAMPLES.map((each) => each.slice(0, one.length)).filter((each) => !WRONG.test(said(one, each) ?? 'undefined'))
  expect(usable).not.toEqual([])
  for (const each of usable) {
    expect(taken(said(other, each)!, each)).toEqual(taken(said(one, each)!, each))
    expect(said(other, each)).not.toMatch(WRONG)
  }
  expect(said(other, [1, 1, 1, 1]) ?? '').not.toMatch(/undefined|\[object/)
})

describe('sentences of events in German', () => {
  test.each(WEBHOOK_EVENTS)('%s', (type) => {
    const { data } = examplePayload(type) as { data: object }
    const text = (germanSentences[type] as Sentence)(data) as string
    const inEnglish = (englishSentences[type] as Sentence)(data) as string
    expect(text).toMatch(/^\p{Lu}[^_]+$/u)
    expect(text).not.toMatch(/undefined|null|\w\.$/)
    expect(text).not.toBe(inEnglish)
    for (const name of inEnglish.match(
      /web-1|golden|198\.51\.100\.7|A question|New memory|shop|25\.00 USD|nightly tests|ada@example\.com|https:\S+/g,
    ) ?? [])
      expect(text).toContain(name)
  })
})

describe('the language', () => {
  test.each([
    ['what the user chose', 'de', ['en-US'], 'de'],
    ['the first of the browser that exists', null, ['fr', 'de-AT', 'en'], 'de'],
    ['English where none exists', null, ['fr', 'pt-BR'], 'en'],
    ['the browser’s where the chosen one is gone', 'fr', ['de'], 'de'],
    ['never a property of objects', 'toString', ['constructor'], 'en'],
  ])('is %s', (_, chosen, locales, language) => expect(preferredLanguage(chosen, locales)).toBe(language))

  test('formats as the browser’s variant of it', () => {
    expect(preferredLocale('de', ['en-GB', 'de-AT', 'de'])).toBe('de-AT')
    expect(preferredLocale('de', ['en-GB'])).toBe('de')
  })
})
