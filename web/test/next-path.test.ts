import { expect, test } from 'vitest'
import { nextPath } from '../src/shell/next-path.ts'

const ORIGIN = 'https://cloud.example.com'

test.each(['/', '/vms', '/vms?page=2#top', '/vms/a%09b'])('after sign-in a browser may go on to %j', (next) => {
  expect(nextPath(next, ORIGIN)).toBe(next)
})

test.each([
  '//evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/\r/evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/.//evil.example',
  '/vms/..//evil.example',
  ' //evil.example',
  'https://evil.example',
  'https:evil.example',
  'javascript:alert(1)',
  'vms',
  '',
  undefined,
  7,
])('after sign-in a browser does not go on to %j', (next) => {
  const path = nextPath(next, ORIGIN)
  expect(path === undefined ? ORIGIN : new URL(path, `${ORIGIN}/sign-in`).origin).toBe(ORIGIN)
  expect(path).toBeUndefined()
})
