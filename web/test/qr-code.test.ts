import jsqr from 'jsqr'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import QrCode from '../src/ui/QrCode.tsx'

const SCALE = 3

/** Draws the SVG's modules as pixels and decodes them with an independent library. */
function decode(text: string): string | undefined {
  const svg = renderToStaticMarkup(createElement(QrCode, { text, label: 'QR code' }))
  const width = Number(/viewBox="0 0 (\d+) /.exec(svg)![1]) * SCALE
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255)
  for (const [, x, y] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let row = 0; row < SCALE; row++) {
      const start = 4 * ((Number(y) * SCALE + row) * width + Number(x) * SCALE)
      for (let at = start; at < start + 4 * SCALE; at += 4) pixels.fill(0, at, at + 3)
    }
  return jsqr(pixels, width, width)?.data
}

test.each([1, 14, 42, 106, 180, 251, 331, 412, 504, 666])('a QR code of %i bytes decodes to the same text', (length) => {
  const text = Array.from({ length }, (_, i) => String.fromCharCode(33 + ((i * 37) % 94))).join('')
  expect(decode(text)).toBe(text)
})

test('a QR code of a TOTP URI decodes to the same URI', () => {
  const uri =
    'otpauth://totp/Berth:ad%C3%A4%40example.com?issuer=Berth&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30'
  expect(decode(uri)).toBe(uri)
})
