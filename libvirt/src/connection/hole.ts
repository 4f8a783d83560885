// Holes of sparse streams.
import { MAX_PACKET_BYTES } from '../xdr/limits.ts'
import { hyper, struct, uint } from '../xdr/types.ts'

export const holePayload = struct({ length: hyper, flags: uint })

/** In a sparse stream: a run of zero bytes, transferred as its length. */
export class Hole {
  readonly length: bigint

  constructor(length: bigint) {
    this.length = length
  }
}

/** Expands a sparse download to plain bytes: `pipeline(download, fillHoles, file)`. */
export async function* fillHoles(chunks: AsyncIterable<Buffer | Hole>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    if (chunk instanceof Hole) yield* zeros(chunk.length)
    else yield chunk
  }
}

function* zeros(length: bigint): Generator<Buffer> {
  const packet = Buffer.alloc(MAX_PACKET_BYTES)
  for (let left = length; left > 0n; left -= BigInt(packet.length)) {
    yield left < BigInt(packet.length) ? packet.subarray(0, Number(left)) : packet
  }
}
