// The format of `rbd export-diff` and `import-diff`: the changes of a disk as a stream, in the order of their offsets.
import { DriverError } from '../errors.ts'
import type { DiskContent, Extent } from '../extent.ts'

const MAGIC = 'rbd diff v1\n'
/** Records: a letter, then numbers of 64 bits, or a name with its length in 32. */
const [FROM_SNAPSHOT, TO_SNAPSHOT, SIZE, WRITE, ZERO, END] = ['f', 't', 's', 'w', 'z', 'e']
/** A longer run of bytes is handed over in parts. */
const MAX_EXTENT_BYTES = 4 * 2 ** 20

/** Of the changes; fails where the stream ends too soon. */
export async function* readDiff(stream: AsyncIterable<Buffer>): AsyncGenerator<Extent> {
  const bytes = byteReader(stream)
  try {
    if ((await bytes.take(MAGIC.length)).toString('latin1') !== MAGIC) throw damaged('is none')
    for (;;) {
      const kind = (await bytes.take(1)).toString('latin1')
      if (kind === END) return
      else if (kind === FROM_SNAPSHOT || kind === TO_SNAPSHOT) await bytes.take((await bytes.take(4)).readUInt32LE())
      else if (kind === SIZE) await bytes.take(8)
      else if (kind === WRITE || kind === ZERO) {
        const head = await bytes.take(16)
        let [offset, left] = [Number(head.readBigUInt64LE(0)), Number(head.readBigUInt64LE(8))]
        if (kind === ZERO) yield { offset, zeros: left }
        else
          for (; left > 0; left -= MAX_EXTENT_BYTES, offset += MAX_EXTENT_BYTES)
            yield { offset, bytes: await bytes.take(Math.min(left, MAX_EXTENT_BYTES)) }
      } else throw damaged(`has an unknown record ${JSON.stringify(kind)}`)
    }
  } finally {
    await bytes.close()
  }
}

/** For an image that is empty so far. */
export async function* writeDiff({ sizeBytes, extents }: DiskContent): AsyncGenerator<Buffer> {
  yield Buffer.concat([Buffer.from(MAGIC + SIZE), numbers(sizeBytes)])
  for await (const extent of extents) {
    if (!('bytes' in extent)) continue
    yield Buffer.concat([Buffer.from(WRITE!), numbers(extent.offset, extent.bytes.length)])
    yield extent.bytes
  }
  yield Buffer.from(END!)
}

const damaged = (how: string): DriverError => new DriverError('transient', `The diff of an RBD image ${how}`)

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length)
  for (const [position, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), 8 * position)
  return bytes
}

function byteReader(stream: AsyncIterable<Buffer>) {
  const chunks = stream[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  return {
    async take(length: number): Promise<Buffer> {
      const parts: Buffer[] = []
      for (let missing = length; ;) {
        const part = held.subarray(0, missing)
        held = held.subarray(part.length)
        missing -= part.length
        parts.push(part)
        if (missing === 0) return parts.length === 1 ? part : Buffer.concat(parts, length)
        const next = await chunks.next()
        if (next.done) throw damaged('ended too soon')
        held = next.value
      }
    },
    close: async (): Promise<void> => void (await chunks.return?.()),
  }
}
