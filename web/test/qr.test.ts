import jsqr from 'jsqr'
import { describe, expect, test } from 'vitest'
import { encodeQr, type Points } from '../src/qr/encode.ts'
import { correctionOf } from '../src/qr/reed-solomon.ts'

const SCALE = 3
const BORDER = 4

/** A picture of it, read by somebody else's program. */
function read(points: Points): string | undefined {
  const width = (points.length + 2 * BORDER) * SCALE
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255)
  for (let y = 0; y < width; y++)
    for (let x = 0; x < width; x++) {
      const dark = points[Math.floor(y / SCALE) - BORDER]?.[Math.floor(x / SCALE) - BORDER]
      if (dark) pixels.fill(0, 4 * (y * width + x), 4 * (y * width + x) + 3)
    }
  return jsqr(pixels, width, width)?.data
}

describe('a QR code', () => {
  test('corrects as the standard does in its example', () => {
    const data = [0x10, 0x20, 0x0c, 0x56, 0x61, 0x80, ...Array.from({ length: 5 }, () => [0xec, 0x11]).flat()]
    expect(correctionOf(data, 10)).toEqual([0xa5, 0x24, 0xd4, 0xc1, 0xed, 0x36, 0xc7, 0x87, 0x2c, 0x55])
  })

  // Each version has its own blocks, marks and lengths.
  test.each([1, 14, 15, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666])(
    'of %i bytes is read by another program',
    (length) => {
      const text = Array.from({ length }, (_, i) => String.fromCharCode(33 + ((i * 37) % 94))).join('')
      expect(read(encodeQr(text)!)).toBe(text)
    },
  )

  test('says the address of a secret as it is, and nothing when it is too long', () => {
    const uri =
      'otpauth://totp/Berth:ad%C3%A4%40example.com?issuer=Berth&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30'
    expect(read(encodeQr(uri)!)).toBe(uri)
    expect(encodeQr('x'.repeat(667))).toBe(null)
  })
})
