// Makes a small picture of the screenshot of a guest. The guest decides what is on its screen and how large that is, so the size is checked
// before anything is unpacked, and the result is bounded whatever it shows.
import { inflateSync } from 'node:zlib'
import { encodePng } from './png.ts'

const MAX_WIDTH = 480
const MAX_HEIGHT = 360
const MAX_PIXELS = 2560 * 1600
/** Bytes a pixel by PNG's colour type, at eight bits; what QEMU and the simulated host write. */
const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 6: 4 }

interface Picture {
  width: number
  height: number
  bitDepth: number
  channels: number
  data: Buffer
}

/** At most 480 x 360 pixels. Undefined for what is no picture of a known kind. */
export function shrinkPng(png: Buffer): Buffer | undefined {
  const picture = parse(png)
  if (!picture) return undefined
  const { width, height } = picture
  const factor = Math.max(1, Math.ceil(Math.max(width / MAX_WIDTH, height / MAX_HEIGHT)))
  const shape = { width: Math.floor(width / factor), height: Math.floor(height / factor) }
  if (shape.width === 0 || shape.height === 0) return undefined
  const pixels = unfilter(picture)
  if (!pixels) return undefined
  const rows = Buffer.alloc((shape.width * 3 + 1) * shape.height)
  for (let y = 0; y < shape.height; y++)
    for (let x = 0; x < shape.width; x++)
      for (let color = 0; color < 3; color++)
        rows[y * (shape.width * 3 + 1) + 1 + x * 3 + color] = average(picture, pixels, { x: x * factor, y: y * factor, factor, color })
  return encodePng({ ...shape, bitDepth: 8, color: 'rgb' }, rows)
}

function parse(png: Buffer): Picture | undefined {
  if (png.length < 33 || png.subarray(1, 4).toString('latin1') !== 'PNG') return undefined
  const [width, height, bitDepth, colorType] = [png.readUInt32BE(16), png.readUInt32BE(20), png[24]!, png[25]!]
  const isInterlaced = png[28] !== 0
  const channels = CHANNELS[colorType]
  const isKnown = channels !== undefined && !isInterlaced && (bitDepth === 8 || (bitDepth === 1 && colorType === 0))
  if (!isKnown || width === 0 || height === 0 || width * height > MAX_PIXELS) return undefined
  const parts: Buffer[] = []
  for (let at = 8; at + 12 <= png.length;) {
    const length = png.readUInt32BE(at)
    if (png.subarray(at + 4, at + 8).toString('latin1') === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  const size = (strideOf(width, bitDepth, channels) + 1) * height
  try {
    const data = inflateSync(Buffer.concat(parts), { maxOutputLength: size })
    return data.length === size ? { width, height, bitDepth, channels, data } : undefined
  } catch {
    return undefined
  }
}

const strideOf = (width: number, bitDepth: number, channels: number): number => Math.ceil((width * channels * bitDepth) / 8)

/** Each row is stored as a difference to its left or upper neighbour, as its first byte says. */
function unfilter({ width, height, bitDepth, channels, data }: Picture): Buffer | undefined {
  const stride = strideOf(width, bitDepth, channels)
  const step = bitDepth === 8 ? channels : 1
  const out = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = data[y * (stride + 1)]!
    if (filter > 4) return undefined
    for (let i = 0; i < stride; i++) {
      const left = i >= step ? out[y * stride + i - step]! : 0
      const up = y > 0 ? out[(y - 1) * stride + i]! : 0
      const corner = i >= step && y > 0 ? out[(y - 1) * stride + i - step]! : 0
      out[y * stride + i] = data[y * (stride + 1) + 1 + i]! + predict(filter, left, up, corner)
    }
  }
  return out
}

function predict(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0
  if (filter === 1) return left
  if (filter === 2) return up
  return filter === 3 ? (left + up) >> 1 : paeth(left, up, corner)
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const toLeft = Math.abs(guess - left)
  const toUp = Math.abs(guess - up)
  const toCorner = Math.abs(guess - corner)
  if (toLeft <= toUp && toLeft <= toCorner) return left
  return toUp <= toCorner ? up : corner
}

interface Square {
  x: number
  y: number
  factor: number
  color: number
}

function average({ width, bitDepth, channels }: Picture, pixels: Buffer, { x, y, factor, color }: Square): number {
  const stride = strideOf(width, bitDepth, channels)
  let sum = 0
  for (let row = y; row < y + factor; row++)
    for (let column = x; column < x + factor; column++)
      sum +=
        bitDepth === 1
          ? ((pixels[row * stride + (column >> 3)]! >> (7 - (column & 7))) & 1) * 255
          : pixels[row * stride + column * channels + (channels === 1 ? 0 : color)]!
  return Math.round(sum / factor ** 2)
}
