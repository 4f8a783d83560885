import { expect, test } from 'vitest'
import { virtualSize } from './backup-transfer.ts'

const head = (magic: string, size: bigint): Buffer => {
  const bytes = Buffer.alloc(104)
  bytes.write(magic, 'latin1')
  bytes.writeBigUInt64BE(size, 24)
  return bytes
}

test('the virtual size is read from the qcow2 header', () => {
  expect(virtualSize(head('QFI\xfb', 5n * 2n ** 30n))).toBe(5 * 2 ** 30)
})

test.each([
  ['another kind of file', head('KDMV', 1n)],
  ['a file that was cut', head('QFI\xfb', 1n).subarray(0, 31)],
  ['nothing', Buffer.alloc(0)],
])('%s has none', (_, bytes) => {
  expect(virtualSize(bytes)).toBeUndefined()
})
