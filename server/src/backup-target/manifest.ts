// One backup as a list of everything it needs, its ancestors' chunks included: no backup depends on the manifest of another, and what may be
// deleted is a subtraction of sets.
//
// The disk is divided into blocks. A chunk holds the changed bytes of one block, one after the other; a piece says which of them lie where on
// the disk. What no piece covers is zero. Pieces are ordered, do not overlap, and do not cross the end of their block, so a block is restored
// from its own chunks alone.
import { createHash } from 'node:crypto'
import type { Range } from '../hypervisor/extent.ts'
import { BackupTargetError } from './errors.ts'

const FORMAT = 1

export interface Chunk {
  /** `<backup>/<chunk>` below the repository's chunks. */
  name: string
  storedBytes: number
  plainBytes: number
  /** Of the plaintext. */
  sha256: string
  /** Null in a bucket without versions. With it, neither an overwritten nor a deleted object changes what is restored. */
  version: string | null
  /** Milliseconds since 1970. */
  lockedUntil: number | null
}

export interface Piece extends Range {
  chunk: Chunk
  /** Where in the plaintext of the chunk it begins. */
  from: number
}

export interface Manifest {
  backupId: string
  parentId: string | null
  vmId: string
  keyId: string
  sizeBytes: number
  blockBytes: number
  createdAt: string
  pieces: Piece[]
}

type ChunkRecord = [
  name: string,
  storedBytes: number,
  plainBytes: number,
  sha256: string,
  version: string | null,
  lockedUntil: number | null,
]
type PieceRecord = [offset: number, length: number, chunk: number, from: number]

interface ManifestRecord extends Omit<Manifest, 'pieces'> {
  format: number
  chunks: ChunkRecord[]
  pieces: PieceRecord[]
  checksum: string
}

/** Of the content of the disk, as its size and the checksums of its pieces: computable without the bytes of unchanged ones. */
export function checksumOf({ sizeBytes, pieces }: Pick<Manifest, 'sizeBytes' | 'pieces'>): string {
  const hash = createHash('sha256').update(`${sizeBytes}\n`)
  for (const { offset, length, chunk, from } of pieces) hash.update(`${offset} ${length} ${chunk.sha256} ${from}\n`)
  return `sha256:${hash.digest('hex')}`
}

export const chunksOf = ({ pieces }: Pick<Manifest, 'pieces'>): Map<string, Chunk> =>
  new Map(pieces.map(({ chunk }) => [chunk.name, chunk]))

export function encodeManifest(manifest: Manifest): Buffer {
  const chunks = [...chunksOf(manifest).values()]
  const indexes = new Map(chunks.map(({ name }, index) => [name, index]))
  const record: ManifestRecord = {
    ...manifest,
    format: FORMAT,
    chunks: chunks.map((each) => [each.name, each.storedBytes, each.plainBytes, each.sha256, each.version, each.lockedUntil]),
    pieces: manifest.pieces.map(({ offset, length, chunk, from }) => [offset, length, indexes.get(chunk.name)!, from]),
    checksum: checksumOf(manifest),
  }
  return Buffer.from(JSON.stringify(record))
}

export function decodeManifest(key: string, bytes: Buffer): Manifest {
  const { format, chunks, pieces, checksum, ...rest } = JSON.parse(bytes.toString()) as ManifestRecord
  if (format !== FORMAT) throw new BackupTargetError('unsupported', `The manifest ${key} has the unknown format ${format}`)
  const known = chunks.map(([name, storedBytes, plainBytes, sha256, version, lockedUntil]) => ({
    name,
    storedBytes,
    plainBytes,
    sha256,
    version,
    lockedUntil,
  }))
  const manifest = { ...rest, pieces: pieces.map(([offset, length, chunk, from]) => ({ offset, length, chunk: known[chunk]!, from })) }
  if (checksumOf(manifest) !== checksum)
    throw new BackupTargetError('damaged', `The manifest ${key} does not have the checksum that it names`)
  return manifest
}

/** What of the pieces lies outside of the ranges. */
export const withoutRanges = (pieces: Piece[], ranges: Range[]): Piece[] =>
  ranges.reduce((left, range) => left.flatMap((piece) => cut(piece, range)), pieces)

function cut(piece: Piece, { offset, length }: Range): Piece[] {
  const [end, cutEnd] = [piece.offset + piece.length, offset + length]
  if (cutEnd <= piece.offset || offset >= end) return [piece]
  return [
    ...(offset > piece.offset ? [{ ...piece, length: offset - piece.offset }] : []),
    ...(cutEnd < end ? [{ ...piece, offset: cutEnd, length: end - cutEnd, from: piece.from + cutEnd - piece.offset }] : []),
  ]
}

/** Pieces by the number of their block. */
export function piecesByBlock({ pieces, blockBytes }: Pick<Manifest, 'pieces' | 'blockBytes'>): Map<number, Piece[]> {
  const blocks = new Map<number, Piece[]>()
  for (const piece of pieces) {
    const index = Math.floor(piece.offset / blockBytes)
    const block = blocks.get(index)
    if (block) block.push(piece)
    else blocks.set(index, [piece])
  }
  return blocks
}
