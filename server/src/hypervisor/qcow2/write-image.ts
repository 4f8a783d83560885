// A disk, or a layer on another image, as the bytes of a qcow2 file, from the first to the last: for uploads, which cannot seek. All tables come
// before the data, so what is allocated must be known when it begins.
//
// Layout, in clusters: header, refcount table, refcount blocks, L1 table, L2 tables, data in the order of the disk.
import type { DiskContent, Extent, Range } from '../extent.ts'

const CLUSTER_BITS = 16
const CLUSTER = 2 ** CLUSTER_BITS
/** Entries of 8 bytes, and of 2 for refcounts, in a cluster. */
const [TABLE_ENTRIES, REFCOUNTS] = [CLUSTER / 8, CLUSTER / 2]
/** In entries of L1 and L2: the cluster has one reference only; in those of L2: it reads as zeros, whatever the backing file has. */
const [COPIED, ZERO] = [1n << 63n, 1n]
const [VERSION, HEADER_BYTES, REFCOUNT_ORDER] = [3, 104, 4]

/** Clusters of the disk from `first` up to `end`, which lie in the file from `at` on. */
interface Run {
  first: number
  end: number
  at: number
}

/** All ranges are of whole clusters, up to the end of the disk. */
export interface Qcow2Overlay extends DiskContent {
  /** Relative to the file. */
  backing: string
  zeroed: Range[]
}

export async function* writeQcow2Image(disk: DiskContent | Qcow2Overlay): AsyncGenerator<Buffer> {
  const { sizeBytes, allocated, extents } = disk
  const overlay = 'backing' in disk ? disk : undefined
  if (overlay) for (const range of [...allocated, ...overlay.zeroed]) requireAligned(range, sizeBytes)
  const [runs, zeroed] = [runsOf(allocated), runsOf(overlay?.zeroed ?? [])]
  const layout = layoutOf(sizeBytes, runs, zeroed)
  for (const run of runs) run.at += layout.dataAt
  yield headerOf(sizeBytes, layout, overlay?.backing)
  yield table(layout.refcountTableClusters, layout.refcountBlocks, (i) => BigInt((layout.refcountBlocksAt + i) * CLUSTER))
  for (let i = 0; i < layout.refcountBlocks; i++) yield refcountBlock(layout.clusters - i * REFCOUNTS)
  const positions = new Map(layout.l2Tables.map((index, i) => [index, layout.l2At + i]))
  yield table(layout.l1Clusters, layout.l1Entries, (i) => entryFor(positions.get(i)))
  for (const index of layout.l2Tables) yield l2Table(index, runs, zeroed)
  yield* dataOf(runs, extents)
}

/** The rest of a cluster would hide what the backing file has there. */
function requireAligned({ offset, length }: Range, sizeBytes: number): void {
  const end = offset + length
  if (offset % CLUSTER !== 0 || (end % CLUSTER !== 0 && end !== sizeBytes))
    throw new Error(`BUG: a layer has a part of a cluster at ${offset}`)
}

/** Ranges as whole clusters; `at` counts from the first data cluster. */
function runsOf(allocated: Range[]): Run[] {
  const runs: Run[] = []
  let at = 0
  for (const { offset, length } of allocated) {
    const last = runs.at(-1)
    const first = Math.max(Math.floor(offset / CLUSTER), last?.end ?? 0)
    const end = Math.ceil((offset + length) / CLUSTER)
    if (end <= first) continue
    if (last?.end === first) last.end = end
    else runs.push({ first, end, at })
    at += end - first
  }
  return runs
}

type Layout = ReturnType<typeof layoutOf>

function layoutOf(sizeBytes: number, runs: Run[], zeroed: Run[]) {
  const l1Entries = Math.ceil(Math.ceil(sizeBytes / CLUSTER) / TABLE_ENTRIES)
  const l1Clusters = Math.max(1, Math.ceil(l1Entries / TABLE_ENTRIES))
  const l2Tables = [...new Set([...runs, ...zeroed].flatMap(({ first, end }) => tablesBetween(first, end)))]
  const others = 1 + l1Clusters + l2Tables.length + runs.reduce((sum, { first, end }) => sum + end - first, 0)
  // Refcounts count their own clusters too.
  let [refcountTableClusters, refcountBlocks, clusters] = [0, 0, 0]
  do {
    clusters = others + refcountTableClusters + refcountBlocks
    refcountBlocks = Math.ceil(clusters / REFCOUNTS)
    refcountTableClusters = Math.ceil(refcountBlocks / TABLE_ENTRIES)
  } while (clusters < others + refcountTableClusters + refcountBlocks)
  const refcountBlocksAt = 1 + refcountTableClusters
  const l1At = refcountBlocksAt + refcountBlocks
  const l2At = l1At + l1Clusters
  const dataAt = l2At + l2Tables.length
  return { l1Entries, l1Clusters, l2Tables, refcountTableClusters, refcountBlocks, clusters, refcountBlocksAt, l1At, l2At, dataAt }
}

function tablesBetween(first: number, end: number): number[] {
  const from = Math.floor(first / TABLE_ENTRIES)
  return Array.from({ length: Math.ceil(end / TABLE_ENTRIES) - from }, (_, i) => from + i)
}

/** Of the header extension that names the format of the backing file. */
const BACKING_FORMAT = 0xe2792aca

function headerOf(sizeBytes: number, { l1Entries, l1At, refcountTableClusters }: Layout, backing?: string): Buffer {
  const header = Buffer.alloc(CLUSTER)
  header.write('QFI\xfb', 'latin1')
  header.writeUInt32BE(VERSION, 4)
  header.writeUInt32BE(CLUSTER_BITS, 20)
  header.writeBigUInt64BE(BigInt(sizeBytes), 24)
  header.writeUInt32BE(l1Entries, 36)
  header.writeBigUInt64BE(BigInt(l1At * CLUSTER), 40)
  header.writeBigUInt64BE(BigInt(CLUSTER), 48) // the refcount table follows
  header.writeUInt32BE(refcountTableClusters, 56)
  header.writeUInt32BE(REFCOUNT_ORDER, 96)
  header.writeUInt32BE(HEADER_BYTES, 100)
  if (backing !== undefined) {
    header.writeUInt32BE(BACKING_FORMAT, HEADER_BYTES)
    header.writeUInt32BE(5, HEADER_BYTES + 4)
    header.write('qcow2', HEADER_BYTES + 8)
    const nameAt = HEADER_BYTES + 24 // 8 bytes of zeros end the extensions
    header.writeBigUInt64BE(BigInt(nameAt), 8)
    header.writeUInt32BE(header.write(backing, nameAt), 16)
  }
  return header
}

function table(clusters: number, entries: number, entry: (index: number) => bigint): Buffer {
  const bytes = Buffer.alloc(clusters * CLUSTER)
  for (let i = 0; i < entries; i++) bytes.writeBigUInt64BE(entry(i), i * 8)
  return bytes
}

const entryFor = (cluster: number | undefined): bigint => (cluster === undefined ? 0n : BigInt(cluster * CLUSTER) | COPIED)

function refcountBlock(clustersLeft: number): Buffer {
  const block = Buffer.alloc(CLUSTER)
  for (let i = 0; i < Math.min(clustersLeft, REFCOUNTS); i++) block.writeUInt16BE(1, i * 2)
  return block
}

function l2Table(index: number, runs: Run[], zeroed: Run[]): Buffer {
  const [from, to] = [index * TABLE_ENTRIES, (index + 1) * TABLE_ENTRIES]
  const bytes = Buffer.alloc(CLUSTER)
  const enter = ({ first, end }: Run, entry: (position: number) => bigint): void => {
    for (let cluster = Math.max(first, from); cluster < Math.min(end, to); cluster++)
      bytes.writeBigUInt64BE(entry(cluster - first), (cluster - from) * 8)
  }
  for (const run of zeroed) enter(run, () => ZERO)
  for (const run of runs) enter(run, (position) => entryFor(run.at + position))
  return bytes
}

async function* dataOf(runs: Run[], extents: AsyncIterable<Extent>): AsyncGenerator<Buffer> {
  const left = runs.values()
  let [position, end] = [0, 0]
  const enterNextRun = (): void => {
    const { value: run, done } = left.next()
    if (done) throw new Error('BUG: the disk has more content than was announced')
    ;[position, end] = [run.first * CLUSTER, run.end * CLUSTER]
  }
  for await (const extent of extents) {
    if (!('bytes' in extent)) continue
    while (extent.offset >= end) {
      yield* zeros(end - position)
      enterNextRun()
    }
    if (extent.offset < position || extent.offset + extent.bytes.length > end)
      throw new Error(`BUG: the disk has content at ${extent.offset} that was not announced`)
    yield* zeros(extent.offset - position)
    yield extent.bytes
    position = extent.offset + extent.bytes.length
  }
  yield* zeros(end - position)
  for (const run of left) yield* zeros((run.end - run.first) * CLUSTER)
}

const ZEROS = Buffer.alloc(CLUSTER)

function* zeros(length: number): Generator<Buffer> {
  for (let left = length; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left)
}
