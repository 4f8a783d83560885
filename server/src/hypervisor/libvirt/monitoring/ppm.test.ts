import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ppmToPng } from './ppm.ts'

const pixels = Buffer.from([255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3])

test('a PPM keeps its pixels as a PNG', () => {
  const png = ppmToPng(Buffer.concat([Buffer.from('P6\n# a screen\n2 2\n255\n'), pixels]))!
  expect(png.subarray(1, 4).toString('latin1')).toBe('PNG')
  expect([png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]]).toEqual([2, 2, 8, 2])
  const dataAt = png.indexOf('IDAT') + 4
  const rows = inflateSync(png.subarray(dataAt, dataAt + png.readUInt32BE(dataAt - 8)))
  expect(rows).toEqual(Buffer.from([0, 255, 0, 0, 0, 255, 0, 0, 0, 0, 255, 1, 2, 3]))
})

test('other formats are rejected', () => {
  expect(ppmToPng(Buffer.from('GIF89a'))).toBeUndefined()
})
