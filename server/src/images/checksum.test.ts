import { expect, test } from 'vitest'
import { parseChecksum } from './checksum.ts'

test('the algorithm follows from the length and must match the given name', () => {
  expect(parseChecksum('AB'.repeat(32))).toEqual({ algorithm: 'sha256', hex: 'ab'.repeat(32) })
  expect(parseChecksum(`sha512:${'0f'.repeat(64)}`)).toEqual({ algorithm: 'sha512', hex: '0f'.repeat(64) })
  for (const wrong of ['', 'abc', `sha512:${'ab'.repeat(32)}`, 'zz'.repeat(32), `md5:${'ab'.repeat(16)}`]) {
    expect(() => parseChecksum(wrong)).toThrow('is not a checksum')
  }
})
