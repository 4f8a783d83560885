import { randomBytes } from 'node:crypto'
import { deflateSync, inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { encodePng } from './png.ts'
import { shrinkPng } from './shrink-png.ts'

const rowsOf = (width: number, height: number, pixel: (x: number, y: number) => [number, number, number]): Buffer =>
  Buffer.concat(
    Array.from({ length: height }, (_, y) => Buffer.from([0, ...Array.from({ length: width }, (_unused, x) => pixel(x, y)).flat()])),
  )
const sizeOf = (png: Buffer): number[] => [png.readUInt32BE(16), png.readUInt32BE(20)]
const pixelsOf = (png: Buffer): Buffer => inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)))

test('a small picture keeps its size and its colours', () => {
  const png = encodePng(
    { width: 3, height: 2, bitDepth: 8, color: 'rgb' },
    rowsOf(3, 2, (x, y) => [x * 10, y * 20, 30]),
  )
  const small = shrinkPng(png)!
  expect(sizeOf(small)).toEqual([3, 2])
  expect(pixelsOf(small)).toEqual(rowsOf(3, 2, (x, y) => [x * 10, y * 20, 30]))
})

test('a large one becomes the average of its squares', () => {
  const png = encodePng(
    { width: 960, height: 400, bitDepth: 8, color: 'rgb' },
    rowsOf(960, 400, (x) => (x % 2 === 0 ? [0, 100, 200] : [100, 100, 0])),
  )
  const small = shrinkPng(png)!
  expect(sizeOf(small)).toEqual([480, 200])
  expect([...pixelsOf(small).subarray(1, 4)]).toEqual([50, 100, 100])
})

test('one of noise, as a guest may show it, is at most as large as is stored', () => {
  const [width, height] = [1280, 800]
  const rows = Buffer.concat(Array.from({ length: height }, () => Buffer.concat([Buffer.alloc(1), randomBytes(width * 3)])))
  const small = shrinkPng(encodePng({ width, height, bitDepth: 8, color: 'rgb' }, rows))!
  expect(sizeOf(small)[0]).toBeLessThanOrEqual(480)
  expect(small.length).toBeLessThan(524_288)
  const worst = Buffer.concat(Array.from({ length: 360 }, () => Buffer.concat([Buffer.alloc(1), randomBytes(480 * 3)])))
  expect(shrinkPng(encodePng({ width: 480, height: 360, bitDepth: 8, color: 'rgb' }, worst))!.length).toBeLessThan(524_288)
})

/** Each row with another filter, as encoders write them. */
test('all filters of rows are undone', () => {
  const [width, height] = [4, 5]
  const plain = rowsOf(width, height, (x, y) => [x * 40, y * 40, x * y * 10])
  const stride = width * 3
  const at = (y: number, i: number): number => (y < 0 || i < 0 ? 0 : plain[y * (stride + 1) + 1 + i]!)
  const paeth = (a: number, b: number, c: number): number => {
    const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)]
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c
  }
  const filtered = Buffer.alloc(plain.length)
  for (let y = 0; y < height; y++) {
    filtered[y * (stride + 1)] = y
    for (let i = 0; i < stride; i++) {
      const [a, b, c] = [at(y, i - 3), at(y - 1, i), i < 3 ? 0 : at(y - 1, i - 3)]
      filtered[y * (stride + 1) + 1 + i] = at(y, i) - [0, a, b, (a + b) >> 1, paeth(a, b, c)][y]!
    }
  }
  expect(pixelsOf(shrinkPng(encodePng({ width, height, bitDepth: 8, color: 'rgb' }, filtered))!)).toEqual(plain)
})

test('what is no picture, or lies about its size, is none', () => {
  const png = encodePng({ width: 100, height: 100, bitDepth: 8, color: 'rgb' }, Buffer.alloc(301 * 100))
  expect(shrinkPng(Buffer.from('no picture'))).toBeUndefined()
  const giant = Buffer.from(png)
  giant.writeUInt32BE(1_000_000, 16)
  expect(shrinkPng(giant)).toBeUndefined()
  const short = encodePng({ width: 100, height: 100, bitDepth: 8, color: 'rgb' }, Buffer.alloc(10))
  expect(shrinkPng(short)).toBeUndefined()
  const bomb = Buffer.concat([
    png.subarray(0, 33),
    Buffer.alloc(4),
    Buffer.from('IDAT'),
    deflateSync(Buffer.alloc(10_000_000)),
    Buffer.alloc(4),
  ])
  bomb.writeUInt32BE(bomb.length - 33 - 12, 33)
  expect(shrinkPng(bomb)).toBeUndefined()
})
