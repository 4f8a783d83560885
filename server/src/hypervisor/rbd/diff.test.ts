import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Extent } from '../extent.ts'
import { expectKind } from '../conformance/fixture.ts'
import { readDiff, writeDiff } from './diff.ts'

const MIB = 2 ** 20

/** As `rbd export-diff` writes it. */
function diffOf(...records: (string | number | bigint | Buffer)[]): Buffer {
  const toBytes = (part: (typeof records)[number]): Buffer => {
    if (typeof part === 'string') return Buffer.from(part, 'latin1')
    if (Buffer.isBuffer(part)) return part
    const bytes = Buffer.alloc(typeof part === 'bigint' ? 8 : 4)
    if (typeof part === 'bigint') bytes.writeBigUInt64LE(part)
    else bytes.writeUInt32LE(part)
    return bytes
  }
  return Buffer.concat(['rbd diff v1\n', ...records].map(toBytes))
}

const extentsOf = (bytes: Buffer, chunkBytes = bytes.length): Promise<Extent[]> =>
  Array.fromAsync(
    readDiff(
      Readable.from(
        Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, i) => bytes.subarray(i * chunkBytes, (i + 1) * chunkBytes)),
      ),
    ),
  )

describe('a diff of RBD', () => {
  const data = randomBytes(5000)
  const whole = diffOf('f', 4, 'base', 't', 2, 'to', 's', 10_000_000n, 'w', 512n, 5000n, data, 'z', 8192n, 4096n, 'e')

  test.each([1, 7, 4096, whole.length])('is read as extents, whatever parts of %i bytes it comes in', async (chunkBytes) => {
    expect(await extentsOf(whole, chunkBytes)).toEqual([
      { offset: 512, bytes: data },
      { offset: 8192, zeros: 4096 },
    ])
  })

  test('has long runs in parts of at most 4 MiB', async () => {
    const long = randomBytes(9 * MIB)
    const extents = await extentsOf(diffOf('s', 100_000_000n, 'w', 0n, BigInt(long.length), long, 'e'), 65_536)
    expect(extents.map((extent) => [extent.offset, 'bytes' in extent && extent.bytes.length])).toEqual([
      [0, 4 * MIB],
      [4 * MIB, 4 * MIB],
      [8 * MIB, MIB],
    ])
    expect(Buffer.concat(extents.map((extent) => ('bytes' in extent ? extent.bytes : Buffer.alloc(0)))).equals(long)).toBe(true)
  })

  test('that is cut off, of another kind, or has unknown records is an error', async () => {
    for (const damaged of [whole.subarray(0, -1), whole.subarray(0, 600), Buffer.from('rbd diff v2\nrest'), diffOf('x'), Buffer.alloc(0)])
      await expectKind(extentsOf(damaged), 'transient')
  })

  test('is written as it is read', async () => {
    const extents = [
      { offset: 0, bytes: data },
      { offset: MIB, zeros: 100 },
      { offset: 2 * MIB, bytes: randomBytes(MIB) },
    ]
    const written = await buffer(Readable.from(writeDiff({ sizeBytes: 3 * MIB, allocated: [], extents: Readable.from(extents) })))
    expect(await extentsOf(written)).toEqual([extents[0], extents[2]])
  })
})
