// Reads XDR. It trusts nothing: a length is checked against what is really there before anything is allocated for it.
import { ProtocolError } from '../errors.ts'
import { MAX_STRING_BYTES } from './limits.ts'

export class Reader {
  private readonly buffer: Buffer
  private at: number

  constructor(buffer: Buffer, start = 0) {
    this.buffer = buffer
    this.at = start
  }

  get remaining(): number {
    return this.buffer.length - this.at
  }

  int(): number {
    return this.buffer.readInt32BE(this.take(4))
  }

  uint(): number {
    return this.buffer.readUInt32BE(this.take(4))
  }

  hyper(): bigint {
    return this.buffer.readBigInt64BE(this.take(8))
  }

  uhyper(): bigint {
    return this.buffer.readBigUInt64BE(this.take(8))
  }

  double(): number {
    return this.buffer.readDoubleBE(this.take(8))
  }

  str(): string {
    const bytes = this.uint()
    if (bytes > MAX_STRING_BYTES) throw new ProtocolError(`a string claims ${bytes} bytes, over libvirt's ${MAX_STRING_BYTES}`)
    const start = this.take((bytes + 3) & ~3)
    return this.buffer.toString('utf8', start, start + bytes)
  }

  /** A view, not a copy. */
  raw(bytes: number): Buffer {
    const start = this.take(Math.ceil(bytes / 4) * 4)
    return this.buffer.subarray(start, start + bytes)
  }

  opaque(): Buffer {
    return this.raw(this.uint())
  }

  /** The count of an array whose items take at least `itemBytes` each. */
  count(itemBytes: number): number {
    const count = this.uint()
    if (count * itemBytes > this.remaining) throw new ProtocolError(`an array claims ${count} items, ${this.remaining} bytes are left`)
    return count
  }

  rest(): Buffer {
    return this.raw(this.remaining)
  }

  /** Bytes left over mean that the layout is not the one we believe in. */
  end(): void {
    if (this.remaining !== 0) throw new ProtocolError(`${this.remaining} bytes are left after the last field`)
  }

  private take(bytes: number): number {
    const start = this.at
    if (start + bytes > this.buffer.length) {
      throw new ProtocolError(`the message ends after ${this.buffer.length} bytes, ${start + bytes - this.buffer.length} too early`)
    }
    this.at = start + bytes
    return start
  }
}
