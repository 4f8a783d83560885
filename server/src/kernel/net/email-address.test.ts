import { expect, test } from 'vitest'
import { isEmailAddress } from './email-address.ts'

test.each(['ada@example.com', 'a.b+c@mail.example.co.uk', 'ada@localhost', 'jürgen@exämple.de'])('%s is an address', (text) =>
  expect(isEmailAddress(text)).toBe(true),
)

test.each([
  'ada',
  'a@..',
  '.@.',
  'a@b.',
  '.a@b',
  'a b@c',
  '<v@x.com>,a@b',
  '"a"@b',
  'x\u202ey@z.de',
  'x\u200b@z.de',
  'x@z\u200e.de',
  'x\u001b@z',
])('%j is none', (text) => expect(isEmailAddress(text)).toBe(false))
