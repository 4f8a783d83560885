// QR codes (ISO/IEC 18004) up to version 20, which holds 666 bytes: the patterns, the codewords between them, and the mask that suits them.
import { toCodewords } from './codewords.ts'

/** Rows of points; true is dark. */
export type Points = boolean[][]

const MASKS: ((x: number, y: number) => number)[] = [
  (x, y) => (x + y) % 2,
  (_, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
]

/** Null when the text is too long. */
export function encodeQr(text: string): Points | null {
  const found = toCodewords(text)
  if (!found) return null
  const candidates = MASKS.map((_, mask) => draw(found.version, found.codewords, mask))
  return candidates.reduce((best, next) => (penaltyOf(next) < penaltyOf(best) ? next : best))
}

function draw(version: number, codewords: number[], mask: number): Points {
  const size = 4 * version + 17
  const points: (boolean | undefined)[][] = Array.from({ length: size }, () => Array<undefined>(size).fill(undefined))
  const set = (x: number, y: number, dark: boolean): void => {
    if (x >= 0 && y >= 0 && x < size && y < size) points[y]![x] = dark
  }
  drawPatterns(version, size, set)
  drawFormat(size, mask, set)
  if (version > 6) drawVersion(version, size, set)
  for (const [at, { x, y }] of freePlaces(points, size).entries()) {
    const bit = ((codewords[at >>> 3] ?? 0) >>> (7 - (at & 7))) & 1
    set(x, y, (bit === 1) !== (MASKS[mask]!(x, y) === 0))
  }
  return points as Points
}

type Set = (x: number, y: number, dark: boolean) => void

/** Rings around a middle: dark but for one of them, and for the border of the big ones. */
function drawRings(x: number, y: number, radius: number, set: Set, light: number[]): void {
  for (let dy = -radius; dy <= radius; dy++)
    for (let dx = -radius; dx <= radius; dx++) set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))))
}

function drawPatterns(version: number, size: number, set: Set): void {
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0)
    set(i, 6, i % 2 === 0)
  }
  const [near, far] = [3, size - 4]
  for (const [x, y] of [
    [near, near],
    [far, near],
    [near, far],
  ] as const)
    drawRings(x, y, 4, set, [2, 4])
  const middles = alignmentOf(version, size)
  const last = middles.length - 1
  for (const [i, x] of middles.entries())
    for (const [j, y] of middles.entries()) {
      const isFinder = (i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0)
      if (!isFinder) drawRings(x, y, 2, set, [1])
    }
}

/** Where the middles of the small marks are, in both directions. */
function alignmentOf(version: number, size: number): number[] {
  if (version === 1) return []
  const count = Math.floor(version / 7) + 2
  const step = Math.ceil((4 * version + 4) / (2 * count - 2)) * 2
  const others = Array.from({ length: count - 1 }, (_, i) => size - 7 - i * step)
  return [6, ...others.reverse()]
}

/** `value` with the rest of its division by the code's polynomial behind it. */
function withRest(value: number, polynomial: number, length: number): number {
  let rest = value
  for (let i = 0; i < length; i++) rest = (rest << 1) ^ ((rest >>> (length - 1)) * polynomial)
  return (value << length) | rest
}

const bitOf = (value: number, at: number): boolean => ((value >>> at) & 1) === 1

/** Level M is 00, so that the mask alone is left to say. Both copies, and the point that is always dark. */
function drawFormat(size: number, mask: number, set: Set): void {
  const bits = withRest(mask, 0x537, 10) ^ 0x5412
  for (let i = 0; i < 15; i++) {
    const [along, around] = [i < 6 ? i : i < 8 ? i + 1 : 8, i < 8 ? 8 : i < 9 ? 7 : 14 - i]
    set(around, along, bitOf(bits, i))
    if (i < 8) set(size - 1 - i, 8, bitOf(bits, i))
    else set(8, size - 15 + i, bitOf(bits, i))
  }
  set(8, size - 8, true)
}

function drawVersion(version: number, size: number, set: Set): void {
  const bits = withRest(version, 0x1f25, 12)
  for (let i = 0; i < 18; i++) {
    const [far, near] = [size - 11 + (i % 3), Math.floor(i / 3)]
    set(far, near, bitOf(bits, i))
    set(near, far, bitOf(bits, i))
  }
}

/** In pairs of columns from the right, up and down in turn, around what is drawn already. */
function freePlaces(points: (boolean | undefined)[][], size: number): { x: number; y: number }[] {
  const places: { x: number; y: number }[] = []
  for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2) {
    const upwards = ((right + 1) & 2) === 0
    for (let i = 0; i < size; i++) {
      const y = upwards ? size - 1 - i : i
      for (const x of [right, right - 1]) if (points[y]![x] === undefined) places.push({ x, y })
    }
  }
  return places
}

/** How hard a reader would have it: long runs, blocks, what looks like a corner mark, and more of one colour than of the other. */
function penaltyOf(points: Points): number {
  const rows = points.map((row) => row.map(Number).join(''))
  const columns = points.map((_, x) => points.map((row) => Number(row[x])).join(''))
  const lines = [...rows, ...columns]
  const runs = lines.flatMap((line) => line.match(/0{5,}|1{5,}/g) ?? []).reduce((sum, { length }) => sum + length - 2, 0)
  const marks = lines.reduce((sum, line) => sum + `0000${line}0000`.split(/(?=10111010000|00001011101)/).length - 1, 0)
  const blocks = points.slice(1).reduce((sum, row, y) => sum + sameCorners(points[y]!, row), 0)
  const dark = rows.join('').replaceAll('0', '').length / points.length ** 2
  return runs + 3 * blocks + 40 * marks + 10 * Math.floor(Math.abs(dark - 0.5) * 20)
}

const sameCorners = (above: boolean[], below: boolean[]): number =>
  above.slice(1).filter((point, i) => point === above[i] && point === below[i] && point === below[i + 1]).length
