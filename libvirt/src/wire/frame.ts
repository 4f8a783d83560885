// The frame around every message: a length word that counts itself, then program, version, procedure, type, serial, status.
import { ProtocolError } from '../errors.ts'
import { MAX_MESSAGE_BYTES } from '../xdr/limits.ts'
import { Writer } from '../xdr/writer.ts'

export const HEADER_BYTES = 28
export const Program = { remote: 0x20008086, qemu: 0x20008087, keepalive: 0x6b656570 } as const
export const MessageType = { call: 0, reply: 1, message: 2, stream: 3, hole: 6 } as const
export const Status = { ok: 0, error: 1, continue: 2 } as const

export interface Header {
  program: number
  procedure: number
  type: number
  serial: number
  status: number
}

export interface Frame extends Header {
  payload: Buffer
}

export function encodeFrame(header: Header, writePayload?: (to: Writer) => void): Buffer {
  const writer = new Writer(HEADER_BYTES)
  writePayload?.(writer)
  return withHeader(writer.finish(), header)
}

/** A stream packet's data is the one payload that is not XDR: no count, no padding. */
export function encodePacket(header: Header, data: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + data.length)
  frame.set(data, HEADER_BYTES)
  return withHeader(frame, header)
}

function withHeader(frame: Buffer, header: Header): Buffer {
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(header.program, 4)
  frame.writeUInt32BE(1, 8)
  frame.writeUInt32BE(header.procedure, 12)
  frame.writeUInt32BE(header.type, 16)
  frame.writeUInt32BE(header.serial, 20)
  frame.writeUInt32BE(header.status, 24)
  return frame
}

/** Cuts a byte stream into frames, however the network cut or merged them. A length that cannot be true is an error at once. */
export class FrameReader {
  private chunks: Buffer[] = []
  private held = 0
  private wanted = 4

  push(chunk: Buffer, deliver: (frame: Frame) => void): void {
    this.chunks.push(chunk)
    this.held += chunk.length
    if (this.held < this.wanted) return
    let rest = this.chunks.length === 1 ? chunk : Buffer.concat(this.chunks)
    while (rest.length >= 4) {
      const length = frameLength(rest)
      if (rest.length < length) break
      deliver(parseFrame(rest.subarray(0, length)))
      rest = rest.subarray(length)
    }
    this.chunks = rest.length > 0 ? [rest] : []
    this.held = rest.length
    this.wanted = rest.length >= 4 ? frameLength(rest) : 4
  }
}

function frameLength(bytes: Buffer): number {
  const length = bytes.readUInt32BE(0)
  if (length < HEADER_BYTES || length > MAX_MESSAGE_BYTES) {
    throw new ProtocolError(`a message claims ${length} bytes; libvirt's are ${HEADER_BYTES} to ${MAX_MESSAGE_BYTES}`)
  }
  return length
}

function parseFrame(bytes: Buffer): Frame {
  const version = bytes.readUInt32BE(8)
  if (version !== 1) throw new ProtocolError(`a message has protocol version ${version} instead of 1`)
  return {
    program: bytes.readUInt32BE(4),
    procedure: bytes.readUInt32BE(12),
    type: bytes.readUInt32BE(16),
    serial: bytes.readUInt32BE(20),
    status: bytes.readUInt32BE(24),
    payload: bytes.subarray(HEADER_BYTES),
  }
}
