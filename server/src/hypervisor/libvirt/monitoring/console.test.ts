import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readPicture } from './console.ts'

const MIB = Buffer.alloc(2 ** 20)
let sent = 0
const ofMiB = (count: number): Readable =>
  Readable.from(
    (function* () {
      for (sent = 0; sent < count; sent++) yield MIB
    })(),
  )

test('no more of a screenshot is read than a graphics card holds, however large the guest says that its screen is', async () => {
  expect((await readPicture(ofMiB(32))).length).toBe(32 * MIB.length)
  const endless = ofMiB(1_000)
  await expect(readPicture(endless)).rejects.toThrow(/^The screenshot has more than/)
  expect([endless.destroyed, sent < 100]).toEqual([true, true])
})
