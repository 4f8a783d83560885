// Cuts what a disk reader reports into blocks.
import type { Extent, Range } from '../hypervisor/extent.ts'

export interface Block {
  index: number
  /** Ordered; none of it is all zero. */
  data: { offset: number; bytes: Buffer }[]
  /** Everything in the block that was reported, zeros too. */
  reported: Range[]
}

/** Extents come in the order of their offsets and do not overlap; the same goes for the blocks. */
export async function* cutIntoBlocks(
  extents: AsyncIterable<Extent>,
  disk: { sizeBytes: number; blockBytes: number },
): AsyncGenerator<Block> {
  const { sizeBytes, blockBytes } = disk
  let block: Block | undefined
  let position = 0
  for await (const extent of extents) {
    const length = 'bytes' in extent ? extent.bytes.length : extent.zeros
    const end = extent.offset + length
    if (extent.offset < position || end > sizeBytes)
      throw new Error(`BUG: the disk reader reported ${extent.offset}-${end} after ${position} of ${sizeBytes} bytes`)
    for (position = extent.offset; position < end;) {
      const index = Math.floor(position / blockBytes)
      const next = Math.min(end, (index + 1) * blockBytes)
      if (block && block.index !== index) {
        yield block
        block = undefined
      }
      block ??= { index, data: [], reported: [] }
      block.reported.push({ offset: position, length: next - position })
      const bytes = 'bytes' in extent ? extent.bytes.subarray(position - extent.offset, next - extent.offset) : undefined
      if (bytes && !isZero(bytes)) block.data.push({ offset: position, bytes })
      position = next
    }
  }
  if (block) yield block
}

const ZEROS = Buffer.alloc(64 * 1024)

function isZero(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += ZEROS.length) {
    const part = bytes.subarray(at, at + ZEROS.length)
    if (part.compare(ZEROS, 0, part.length) !== 0) return false
  }
  return true
}
