// A file as the content of a repository, and back.
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { DiskExtents, Extent } from '../hypervisor/extent.ts'

const READ_BYTES = 1024 ** 2

export async function* extentsOf(path: string): AsyncGenerator<Extent & { bytes: Buffer }> {
  let offset = 0
  for await (const bytes of createReadStream(path, { highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>) {
    const { length } = bytes
    yield { offset, bytes }
    offset += length
  }
}

/** With the zeros between the extents. */
export const bytesOf = (content: DiskExtents): Readable => Readable.from(readAll(content), { objectMode: false })

async function* readAll({ sizeBytes, extents }: DiskExtents): AsyncGenerator<Buffer> {
  let at = 0
  for await (const extent of extents) {
    if (!('bytes' in extent)) continue
    yield* zeros(extent.offset - at)
    yield extent.bytes
    at = extent.offset + extent.bytes.length
  }
  yield* zeros(sizeBytes - at)
}

function* zeros(length: number): Generator<Buffer> {
  for (let left = length; left > 0; left -= READ_BYTES) yield Buffer.alloc(Math.min(left, READ_BYTES))
}
