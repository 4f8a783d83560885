// The content of a qcow2 file without its backing files: what a full backup holds, or what an incremental one changed. Only what QEMU's
// backup jobs write is understood; anything else is refused.
import type { Extent, Range } from '../extent.ts'

/** Fewer bytes at the end of the file, which may lie within its last cluster. */
export type ReadFile = (offset: number, length: number) => Promise<Buffer>

export interface Qcow2Layer {
  sizeBytes: number
  /** In order, without what the backing file has. */
  extents(): AsyncGenerator<Extent>
  /** Reads tables only. */
  findAllocated(): Promise<Range[]>
}

const MAGIC = 0x514649fb
const HEADER_BYTES = 104
/** An image that was not closed cleanly is readable. */
const DIRTY = 1n
const OFFSET = 0x00ff_ffff_ffff_fe00n
const COMPRESSED = 1n << 62n
const ZERO = 1n
/** Runs of bytes end at multiples of it, as blocks of backups do. */
const READ_BYTES = 4 * 1024 ** 2

interface Header {
  version: number
  clusterBytes: number
  sizeBytes: number
  l1Offset: number
  l1Entries: number
}

export async function openQcow2Layer(read: ReadFile): Promise<Qcow2Layer> {
  const header = readHeader(await padded(read, 0, HEADER_BYTES))
  const l1 = await padded(read, header.l1Offset, header.l1Entries * 8)
  return {
    sizeBytes: header.sizeBytes,
    extents: () => readExtents(read, header, l1),
    findAllocated: () => findAllocated(read, header, l1),
  }
}

function readHeader(head: Buffer): Header {
  if (head.readUInt32BE(0) !== MAGIC) throw new Error('The file is not a qcow2 image')
  const version = head.readUInt32BE(4)
  const clusterBits = head.readUInt32BE(20)
  const size = head.readBigUInt64BE(24)
  if (version !== 2 && version !== 3) throw new Error(`The image has the unknown qcow2 version ${version}`)
  if (clusterBits < 9 || clusterBits > 21) throw new Error('The image has clusters of an impossible size')
  if (size > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('The image has an impossible size')
  if (head.readUInt32BE(32) !== 0) throw new Error('The image is encrypted')
  if (version === 3 && (head.readBigUInt64BE(72) & ~DIRTY) !== 0n) throw new Error('The image is damaged, or uses unknown features')
  const clusterBytes = 2 ** clusterBits
  const l1Entries = Math.ceil(Number(size) / (clusterBytes * (clusterBytes / 8)))
  if (head.readUInt32BE(36) < l1Entries) throw new Error('The image has too small a cluster table')
  return { version, clusterBytes, sizeBytes: Number(size), l1Offset: Number(head.readBigUInt64BE(40)), l1Entries }
}

/** Neighbours in the disk that are neighbours in the file too. */
interface Run {
  offset: number
  length: number
  /** Null for zeros. */
  at: number | null
}

async function* readExtents(read: ReadFile, header: Header, l1: Buffer): AsyncGenerator<Extent> {
  for await (const { offset, length, at } of joined(readClusters(read, header, l1))) {
    const inside = Math.min(length, header.sizeBytes - offset)
    yield at === null ? { offset, zeros: inside } : { offset, bytes: await padded(read, at, inside) }
  }
}

async function findAllocated(read: ReadFile, header: Header, l1: Buffer): Promise<Range[]> {
  const found: Range[] = []
  for await (const { offset, length, at } of joined(readClusters(read, header, l1)))
    if (at !== null) found.push({ offset, length: Math.min(length, header.sizeBytes - offset) })
  return found
}

async function* readClusters(read: ReadFile, { version, clusterBytes, sizeBytes, l1Entries }: Header, l1: Buffer): AsyncGenerator<Run> {
  const entriesPerTable = clusterBytes / 8
  for (let i = 0; i < l1Entries; i++) {
    const tableAt = Number(l1.readBigUInt64BE(i * 8) & OFFSET)
    if (tableAt === 0) continue
    const table = await padded(read, tableAt, clusterBytes)
    for (let k = 0; k < entriesPerTable; k++) {
      const offset = (i * entriesPerTable + k) * clusterBytes
      if (offset >= sizeBytes) return
      const entry = table.readBigUInt64BE(k * 8)
      if (entry & COMPRESSED) throw new Error('The image has compressed clusters')
      const at = Number(entry & OFFSET)
      if (version === 3 && entry & ZERO) yield { offset, length: clusterBytes, at: null }
      else if (at !== 0) yield { offset, length: clusterBytes, at }
    }
  }
}

async function* joined(runs: AsyncIterable<Run>): AsyncGenerator<Run> {
  let last: Run | undefined
  for await (const run of runs) {
    const continues =
      last !== undefined &&
      last.offset + last.length === run.offset &&
      (last.at === null ? run.at === null : last.at + last.length === run.at && run.offset % READ_BYTES !== 0)
    if (continues) last!.length += run.length
    else {
      if (last) yield last
      last = { ...run }
    }
  }
  if (last) yield last
}

/** Beyond the end of the file are zeros. */
async function padded(read: ReadFile, offset: number, length: number): Promise<Buffer> {
  const bytes = await read(offset, length)
  return bytes.length === length ? bytes : Buffer.concat([bytes], length)
}
