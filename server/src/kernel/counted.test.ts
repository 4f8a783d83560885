import { expect, test } from 'vitest'
import { counted } from './counted.ts'

test('one is no plural, and none is', () => {
  expect([0, 1, 2].map((count) => counted(count, 'file'))).toEqual(['0 files', '1 file', '2 files'])
  expect([1, 2].map((count) => counted(count, 'address', 'addresses'))).toEqual(['1 address', '2 addresses'])
})
