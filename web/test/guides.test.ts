// Every screen has a guide that exists.
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { guideOf, guidePages } from '../src/ui/guides.ts'
import { CUSTOMER_LISTS, OPERATOR_LISTS } from './screens.ts'

test.each([...new Set(guidePages)])('docs/%s.md exists', (page) =>
  expect(existsSync(new URL(`../../docs/${page}.md`, import.meta.url))).toBe(true),
)

test('every list leads to a guide', () => {
  const unexplained = [...CUSTOMER_LISTS, ...OPERATOR_LISTS].filter((path) => {
    const { pathname, searchParams } = new URL(path, 'https://berth.example')
    return guideOf(pathname, searchParams.get('tab') ?? undefined) === undefined
  })
  expect(unexplained).toEqual([])
})

test.each([
  ['/', undefined, '/docs/guide/dashboard'],
  ['/vms/cmb3v8k2p0000examplevm001', 'copies', '/docs/guide/backups'],
  ['/vms/cmb3v8k2p0000examplevm001', undefined, '/docs/guide/tutorial'],
  ['/vms/new', undefined, '/docs/guide/availability'],
  ['/networks/cmb3v8k2p0000examplevm001', undefined, '/docs/guide/networks'],
  ['/settings', 'security', '/docs/guide/sign-in'],
  ['/sign-in', undefined, undefined],
])('%s %s is explained by %s', (path, tab, guide) => expect(guideOf(path, tab)).toBe(guide))
