// OVSDB sends JSON objects one after another, without a length or a separator: the end of a message is where its braces balance.
import { ProtocolError } from './errors.ts'

const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, QUOTE, BACKSLASH] = [...Buffer.from('{}[]"\\')]
const SPACE = 0x20

/** The first contents of a large database come as one message. */
const MAX_BYTES = 512 * 1024 * 1024

export class JsonStream {
  private readonly maxBytes: number
  private chunks: Buffer[] = []
  private bytes = 0
  private depth = 0
  private inString = false
  private escaped = false

  constructor(maxBytes = MAX_BYTES) {
    this.maxBytes = maxBytes
  }

  /** The messages that end in this chunk. */
  *push(chunk: Buffer): Generator<unknown> {
    let start = 0
    for (let i = 0; i < chunk.length; i++) {
      if (!this.endsMessage(chunk[i]!)) continue
      this.keep(chunk.subarray(start, i + 1))
      start = i + 1
      yield this.take()
    }
    if (this.depth > 0) this.keep(chunk.subarray(start))
  }

  private endsMessage(byte: number): boolean {
    if (this.inString) {
      if (this.escaped) this.escaped = false
      else if (byte === BACKSLASH) this.escaped = true
      else if (byte === QUOTE) this.inString = false
      return false
    }
    if (byte === QUOTE) this.inString = true
    else if (byte === OPEN || byte === OPEN_LIST) this.depth++
    else if ((byte === CLOSE || byte === CLOSE_LIST) && this.depth > 0) return --this.depth === 0
    if (this.depth === 0 && byte > SPACE) throw new ProtocolError('the server sent something that is not a JSON object')
    return false
  }

  private keep(part: Buffer): void {
    this.bytes += part.length
    if (this.bytes > this.maxBytes) throw new ProtocolError(`the server sent a message of more than ${this.maxBytes} bytes`)
    this.chunks.push(part)
  }

  private take(): unknown {
    const text = Buffer.concat(this.chunks, this.bytes).toString('utf8')
    this.chunks = []
    this.bytes = 0
    try {
      return JSON.parse(text)
    } catch (error) {
      throw new ProtocolError('the server sent malformed JSON', error)
    }
  }
}
