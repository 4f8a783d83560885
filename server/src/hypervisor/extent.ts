export interface Range {
  offset: number
  length: number
}

/** Part of a disk: bytes, or so many zeros. Bytes are handed over: a reader does not use them any more. */
export type Extent = { offset: number; bytes: Buffer } | { offset: number; zeros: number }

export interface DiskExtents {
  sizeBytes: number
  /** In order, and read once. */
  extents: AsyncIterable<Extent>
}

export interface DiskContent extends DiskExtents {
  /** Everything else is zero. Ordered; no extent lies outside. */
  allocated: Range[]
}

/** A backup without its parents. */
export interface DiskLayer extends DiskExtents {
  /** Where it has bytes, without reading them. */
  findAllocated(): Promise<Range[]>
}

/** The disk that layers make, each on those before it. */
export async function stackLayers(layers: DiskLayer[]): Promise<DiskContent> {
  const allocated: Range[] = []
  for (const layer of layers) allocated.push(...(await layer.findAllocated()))
  return {
    sizeBytes: layers.at(-1)!.sizeBytes,
    allocated: allocated.sort((a, b) => a.offset - b.offset),
    extents: layers.map(({ extents }) => extents).reduce(overlay),
  }
}

/** What `above` does not cover is as `below` has it. */
async function* overlay(below: AsyncIterable<Extent>, above: AsyncIterable<Extent>): AsyncGenerator<Extent> {
  const lower = below[Symbol.asyncIterator]()
  const next = async (): Promise<Extent | undefined> => (await lower.next()).value as Extent | undefined
  try {
    let rest = await next()
    for await (const upper of above) {
      while (rest && rest.offset < endOf(upper)) {
        if (rest.offset < upper.offset) yield slice(rest, rest.offset, Math.min(endOf(rest), upper.offset))
        rest = endOf(rest) > endOf(upper) ? slice(rest, endOf(upper), endOf(rest)) : await next()
      }
      yield upper
    }
    for (; rest; rest = await next()) yield rest
  } finally {
    await lower.return?.()
  }
}

const endOf = (extent: Extent): number => extent.offset + ('bytes' in extent ? extent.bytes.length : extent.zeros)

const slice = (extent: Extent, from: number, to: number): Extent =>
  'bytes' in extent
    ? { offset: from, bytes: extent.bytes.subarray(from - extent.offset, to - extent.offset) }
    : { offset: from, zeros: to - from }
