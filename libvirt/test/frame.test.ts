import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ProtocolError } from '../src/index.ts'
import { encodePacket, FrameReader } from '../src/wire/frame.ts'
import type { Frame } from '../src/wire/frame.ts'
import { isNoneOrOfProtocol, problem } from './problem.ts'

const u32 = fc.integer({ min: 0, max: 0xffffffff })
const frame = fc.record({
  program: u32,
  procedure: u32,
  type: u32,
  serial: u32,
  status: u32,
  payload: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
})

function read(chunks: Buffer[]): Frame[] {
  const reader = new FrameReader()
  const frames: Frame[] = []
  for (const chunk of chunks) reader.push(chunk, (one) => frames.push(one))
  return frames
}

function cut(bytes: Buffer, places: number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end))
}

describe('frames', () => {
  test('are reassembled from fragmented or merged bytes', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 30 }), (frames, places) => {
        const bytes = Buffer.concat(frames.map((one) => encodePacket(one, one.payload)))
        expect(read(cut(bytes, places))).toEqual(frames)
      }),
    )
  })

  test('one byte at a time', () => {
    const header = { program: 1, procedure: 2, type: 3, serial: 4, status: 0 }
    const bytes = Buffer.concat([encodePacket(header, Buffer.from('a')), encodePacket(header, Buffer.alloc(0))])
    expect(read([...bytes].map((byte) => Buffer.from([byte]))).map((one) => one.payload.toString())).toEqual(['a', ''])
  })

  test.each([0, 4, 27, 33_554_433, 0xffffffff])('a length of %d is an error at once', (length) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(length)
    expect(() => read([bytes])).toThrow(ProtocolError)
  })

  test('the frames before a wrong length are still delivered', () => {
    const reader = new FrameReader()
    const good = encodePacket({ program: 1, procedure: 2, type: 3, serial: 4, status: 0 }, Buffer.from('good'))
    const seen: string[] = []
    expect(() => reader.push(Buffer.concat([good, Buffer.alloc(4)]), (one) => seen.push(one.payload.toString()))).toThrow(ProtocolError)
    expect(seen).toEqual(['good'])
  })

  test('garbage gives frames, silence or a protocol error', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 100 })), (chunks) => {
        expect(problem(() => read(chunks.map((chunk) => Buffer.from(chunk))))).toSatisfy(isNoneOrOfProtocol)
      }),
    )
  })
})
