// Writes XDR (big endian, everything a multiple of 4 bytes) into a buffer that grows.
import { ProtocolError } from '../errors.ts'
import { MAX_MESSAGE_BYTES, MAX_STRING_BYTES } from './limits.ts'

export class Writer {
  private buffer: Buffer
  private used: number

  /** `reserved` bytes stay free at the front, for a header that is written last. */
  constructor(reserved = 0, capacity = 256) {
    this.buffer = Buffer.allocUnsafe(Math.max(capacity, reserved))
    this.used = reserved
  }

  int(value: number): void {
    if (!Number.isInteger(value)) throw new ProtocolError(`${value} is not an integer`, { outcome: 'not sent' })
    const at = this.room(4)
    this.buffer.writeInt32BE(value, at)
  }

  uint(value: number): void {
    if (!Number.isInteger(value)) throw new ProtocolError(`${value} is not an integer`, { outcome: 'not sent' })
    const at = this.room(4)
    this.buffer.writeUInt32BE(value, at)
  }

  hyper(value: bigint): void {
    const at = this.room(8)
    this.buffer.writeBigInt64BE(value, at)
  }

  uhyper(value: bigint): void {
    const at = this.room(8)
    this.buffer.writeBigUInt64BE(value, at)
  }

  double(value: number): void {
    const at = this.room(8)
    this.buffer.writeDoubleBE(value, at)
  }

  str(value: string): void {
    if (value.includes('\0')) throw new ProtocolError('a string with a NUL would be cut short by the daemon', { outcome: 'not sent' })
    const bytes = Buffer.byteLength(value)
    if (bytes > MAX_STRING_BYTES) {
      throw new ProtocolError(`a string of ${bytes} bytes is over libvirt's ${MAX_STRING_BYTES}`, { outcome: 'not sent' })
    }
    this.uint(bytes)
    const at = this.padded(bytes)
    this.buffer.write(value, at, 'utf8')
  }

  /** Bytes of a length both sides know. */
  raw(value: Uint8Array): void {
    const at = this.padded(value.length)
    this.buffer.set(value, at)
  }

  opaque(value: Uint8Array): void {
    this.uint(value.length)
    this.raw(value)
  }

  /** The bytes so far, the reserved front included. The writer is done with them. */
  finish(): Buffer {
    return this.buffer.subarray(0, this.used)
  }

  private padded(bytes: number): number {
    const at = this.room((bytes + 3) & ~3)
    this.buffer.fill(0, at + bytes, this.used)
    return at
  }

  /** May replace the buffer: ask for room first, then look at the buffer. */
  private room(bytes: number): number {
    const at = this.used
    const needed = at + bytes
    if (needed > MAX_MESSAGE_BYTES) {
      throw new ProtocolError(`a message of ${needed} bytes is over libvirt's ${MAX_MESSAGE_BYTES}`, { outcome: 'not sent' })
    }
    if (needed > this.buffer.length) this.grow(needed)
    this.used = needed
    return at
  }

  private grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2))
    this.buffer.copy(larger, 0, 0, this.used)
    this.buffer = larger
  }
}
