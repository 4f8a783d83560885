// The data stream of a call, as a Node stream: upload, download, console, screenshot.
// The serial of the call identifies the stream. The side that is done sends status "ok", and the other confirms; "error" aborts.
import { Duplex } from 'node:stream'
import type { Readable, Writable } from 'node:stream'
import { ProtocolError } from '../errors.ts'
import type { Direction } from '../protocol/procedure.ts'
import { decodeError } from '../wire/error-payload.ts'
import { MessageType, Status } from '../wire/frame.ts'
import type { Frame } from '../wire/frame.ts'
import { MAX_PACKET_BYTES } from '../xdr/limits.ts'
import { decode } from '../xdr/types.ts'
import { Hole, holePayload } from './hole.ts'

export type StreamOf<Result, D extends Direction> = { in: Readable; out: Writable; both: Duplex }[D] & { readonly reply: Result }

export interface StreamLink {
  send(status: number, data: Uint8Array, written?: () => void): void
  sendHole(hole: Hole, written: () => void): void
  pause(): void
  resume(): void
  /** No more packets of this stream are expected. */
  done(): void
}

const nothing = new Uint8Array()
const bufferBytes = 1024 * 1024

export class RpcStream extends Duplex {
  /** The decoded reply of the call that opened the stream. */
  reply: unknown
  private readonly link: StreamLink
  private readonly direction: Direction
  private readonly procedure: string
  private opened = false
  private full = false
  private saidOk = false
  private isDone = false
  private failure: Error | undefined
  private confirmed: (() => void) | undefined

  constructor(link: StreamLink, options: { direction: Direction; procedure: string; sparse: boolean }) {
    // Node's types do not know the first two.
    const sides = { readable: options.direction !== 'out', writable: options.direction !== 'in' }
    const buffers = { objectMode: options.sparse, highWaterMark: options.sparse ? 4 : bufferBytes }
    super({ ...sides, ...buffers, allowHalfOpen: false })
    this.link = link
    this.direction = options.direction
    this.procedure = options.procedure
  }

  /** Data may come before the reply that opens the stream; reading stops for backpressure only from here on, or that reply would never come. */
  open(reply: unknown): void {
    this.reply = reply
    this.opened = true
    if (this.full) this.link.pause()
  }

  receive(frame: Frame): void {
    if (frame.status === Status.error) this.fail(decodeError(this.procedure, frame.payload))
    else if (frame.type === MessageType.hole) this.deliver(new Hole(decode(holePayload, frame.payload).length))
    else if (frame.status === Status.ok) this.finish()
    else if (frame.payload.length > 0) this.deliver(frame.payload)
    // An empty packet is the end of the data; the stream ends when the daemon has confirmed that we have it all.
    else this.sayOk()
  }

  /** Deferred: the failure may arrive together with the reply, and the opener must receive the stream first. */
  fail(error: Error): void {
    this.failure = error
    this.leave()
    setImmediate(() => this.destroy(this.opened ? error : undefined))
  }

  override _read(): void {
    if (!this.full) return
    this.full = false
    if (this.opened) this.link.resume()
  }

  override _write(chunk: Buffer | Hole, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    if (this.failure) return callback(this.failure)
    // Input to a console whose guest has just gone off is discarded.
    if (this.isDone || this.saidOk) return callback()
    if (chunk instanceof Hole) return this.link.sendHole(chunk, callback)
    this.sendPackets(chunk, callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    if (this.isDone) return callback(this.failure)
    this.confirmed = callback
    this.sayOk()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.isDone) {
      this.link.send(Status.error, nothing)
      this.leave()
    }
    callback(error)
  }

  private sendPackets(chunk: Buffer, callback: () => void): void {
    if (chunk.length <= MAX_PACKET_BYTES) return chunk.length === 0 ? callback() : this.link.send(Status.continue, chunk, callback)
    this.link.send(Status.continue, chunk.subarray(0, MAX_PACKET_BYTES), () => this.sendPackets(chunk.subarray(MAX_PACKET_BYTES), callback))
  }

  private deliver(data: Buffer | Hole): void {
    if (this.push(data) || this.isDone) return
    this.full = true
    if (this.opened) this.link.pause()
  }

  private sayOk(): void {
    if (this.saidOk) return
    this.saidOk = true
    this.link.send(Status.ok, nothing)
  }

  private finish(): void {
    if (!this.saidOk && this.direction === 'out') return this.fail(new ProtocolError(`${this.procedure}: the daemon ended the upload`))
    this.leave()
    if (this.direction !== 'out') this.push(null)
    this.confirmed?.()
  }

  private leave(): void {
    this.isDone = true
    this.link.resume()
    this.link.done()
  }
}
