// Reads the shared libraries a program needs from its ELF file, which may be for another architecture.
import { readFile } from 'node:fs/promises'

const [PT_LOAD, PT_DYNAMIC, PT_INTERP] = [1, 2, 3]
const [DT_NEEDED, DT_STRTAB] = [1n, 5n]

interface Segment {
  type: number
  offset: number
  address: bigint
  bytes: number
}

export interface Linking {
  /** Path of the dynamic linker; null for a library or a static program. */
  interpreter: string | null
  /** Names such as libc.so.6. */
  needed: string[]
}

export const readLinking = async (path: string): Promise<Linking> => linkingOf(await readFile(path))

/** For 64-bit little-endian ELF, which both architectures use. */
export function linkingOf(file: Buffer): Linking {
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) throw new Error('This is not a 64-bit program for Linux')
  const segments = segmentsOf(file)
  const interpreter = segments.find(({ type }) => type === PT_INTERP)
  return { interpreter: interpreter ? textAt(file, interpreter.offset) : null, needed: neededBy(file, segments) }
}

function segmentsOf(file: Buffer): Segment[] {
  const [start, size, count] = [Number(file.readBigUInt64LE(32)), file.readUInt16LE(54), file.readUInt16LE(56)]
  return Array.from({ length: count }, (_, i) => start + i * size).map((at) => ({
    type: file.readUInt32LE(at),
    offset: Number(file.readBigUInt64LE(at + 8)),
    address: file.readBigUInt64LE(at + 16),
    bytes: Number(file.readBigUInt64LE(at + 32)),
  }))
}

function neededBy(file: Buffer, segments: Segment[]): string[] {
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC)
  if (!dynamic) return []
  const entries = Array.from({ length: dynamic.bytes / 16 }, (_, i) => dynamic.offset + i * 16).map((at) => ({
    tag: file.readBigUInt64LE(at),
    value: file.readBigUInt64LE(at + 8),
  }))
  const strings = entries.find(({ tag }) => tag === DT_STRTAB)
  if (!strings) return []
  const table = offsetOf(segments, strings.value)
  return entries.filter(({ tag }) => tag === DT_NEEDED).map(({ value }) => textAt(file, table + Number(value)))
}

function offsetOf(segments: Segment[], address: bigint): number {
  const within = segments.find(({ type, address: from, bytes }) => type === PT_LOAD && address >= from && address < from + BigInt(bytes))
  if (!within) throw new Error('The dynamic section points outside of the program')
  return within.offset + Number(address - within.address)
}

const textAt = (file: Buffer, offset: number): string => file.toString('latin1', offset, file.indexOf(0, offset))
