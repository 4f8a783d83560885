import { expect, test } from 'vitest'
import { linesOf, stanzasOf } from './sources.ts'

test('one-line sources of other releases, other vendors and deb-src are excluded', () => {
  const text = [
    '# deb http://mirror.example/debian bookworm main',
    'deb http://mirror.example/debian bookworm main contrib',
    'deb [arch=arm64 signed-by=/usr/share/keyrings/x.gpg] http://mirror.example/debian-security bookworm-security main',
    'deb-src http://mirror.example/debian bookworm main',
    'deb http://mirror.example/debian trixie main',
    'deb https://vendor.example/linux bookworm stable',
    'deb https://vendor.example/pg bookworm-pg main',
  ].join('\n')
  expect(linesOf(text, 'bookworm').trim().split('\n')).toEqual([text.split('\n')[1], text.split('\n')[2]])
})

test('stanzas are copied unless they are disabled', () => {
  const debian = 'Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\nComponents: main'
  const vendor = 'Types: deb\nURIs: https://vendor.example\nSuites: bookworm\nComponents: stable'
  const off = `Enabled: no\n${debian}`
  expect(stanzasOf([debian, vendor, off].join('\n\n'), 'bookworm')).toBe(`${debian}\n\n`)
  expect(stanzasOf(debian, 'trixie')).toBe('')
})
