// A disk of a test that remembers what changed since its last backup.
import type { Extent } from '../src/hypervisor/extent.ts'

export interface TestDisk {
  content: Buffer
  write(offset: number, bytes: Buffer): void
  /** As a guest's discard. */
  zero(offset: number, length: number): void
  grow(sizeBytes: number): void
  /** Since the last call; everything at the first. */
  changes(): AsyncIterable<Extent>
}

export function testDisk(sizeBytes: number, granularity: number): TestDisk {
  const changed = new Set<number>()
  const note = (offset: number, length: number): void => {
    for (let unit = Math.floor(offset / granularity); unit * granularity < offset + length; unit++) changed.add(unit)
  }
  return {
    content: Buffer.alloc(sizeBytes),
    write(offset, bytes) {
      bytes.copy(this.content, offset)
      note(offset, bytes.length)
    },
    zero(offset, length) {
      this.content.fill(0, offset, offset + length)
      note(offset, length)
    },
    grow(size) {
      this.content = Buffer.concat([this.content, Buffer.alloc(size - this.content.length)])
    },
    async *changes() {
      const units = [...changed].toSorted((a, b) => a - b)
      changed.clear()
      const content = Buffer.from(this.content)
      for (const unit of units) {
        const bytes = content.subarray(unit * granularity, (unit + 1) * granularity)
        const isZero = bytes.every((byte) => byte === 0)
        yield isZero ? { offset: unit * granularity, zeros: bytes.length } : { offset: unit * granularity, bytes }
      }
    },
  }
}

/** The whole disk, as a restore writes it. */
export async function restored({ sizeBytes, extents }: { sizeBytes: number; extents: AsyncIterable<Extent> }): Promise<Buffer> {
  const disk = Buffer.alloc(sizeBytes)
  for await (const extent of extents) if ('bytes' in extent) extent.bytes.copy(disk, extent.offset)
  return disk
}
