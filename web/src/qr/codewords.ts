// A text as the codewords of a QR code: bytes, padded, in blocks with their correction, interleaved. Level M, which mends 15 %.
import { correctionOf } from './reed-solomon.ts'

/** For each version: of one block, and how many blocks there are. */
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26]
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16]
const BYTES_MODE = 0b0100
const PADDING = [0xec, 0x11]

/** How many codewords there is room for beside the patterns. */
function roomOf(version: number): number {
  const marks = Math.floor(version / 7) + 2
  const aligned = version > 1 ? (25 * marks - 10) * marks - 55 : 0
  const versioned = version > 6 ? 36 : 0
  return Math.floor(((16 * version + 128) * version + 64 - aligned - versioned) / 8)
}

const dataRoomOf = (version: number): number => roomOf(version) - CORRECTION[version - 1]! * BLOCKS[version - 1]!

const countBits = (version: number): number => (version < 10 ? 8 : 16)

/** The smallest version that holds so many bytes; null when none of ours does. */
function versionFor(length: number): number | null {
  for (let version = 1; version <= BLOCKS.length; version++)
    if (4 + countBits(version) + 8 * length <= 8 * dataRoomOf(version)) return version
  return null
}

function dataOf(bytes: Uint8Array, version: number): number[] {
  const binary = (value: number, length: number): string => value.toString(2).padStart(length, '0')
  const text = binary(BYTES_MODE, 4) + binary(bytes.length, countBits(version)) + Array.from(bytes, (byte) => binary(byte, 8)).join('')
  const room = dataRoomOf(version)
  const ended = text.padEnd(Math.min(text.length + 4, 8 * room), '0')
  const codewords = ended.match(/.{1,8}/g)!.map((part) => Number.parseInt(part.padEnd(8, '0'), 2))
  return [...codewords, ...Array.from({ length: room - codewords.length }, (_, i) => PADDING[i % 2]!)]
}

/** Shorter blocks come first; the correction of all is equally long. */
function interleave(data: number[], version: number): number[] {
  const [count, correction] = [BLOCKS[version - 1]!, CORRECTION[version - 1]!]
  const short = Math.floor(data.length / count)
  const longer = data.length % count
  const blocks: number[][] = []
  for (let from = 0; blocks.length < count;) {
    const length = short + (blocks.length < count - longer ? 0 : 1)
    blocks.push(data.slice(from, from + length))
    from += length
  }
  const inTurn = (lists: number[][], longest: number): number[] =>
    Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat()
  const corrections = blocks.map((block) => correctionOf(block, correction))
  return [...inTurn(blocks, short + 1), ...inTurn(corrections, correction)]
}

export function toCodewords(text: string): { version: number; codewords: number[] } | null {
  const bytes = new TextEncoder().encode(text)
  const version = versionFor(bytes.length)
  return version === null ? null : { version, codewords: interleave(dataOf(bytes, version), version) }
}
