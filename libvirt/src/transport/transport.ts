// A socket that carries whole messages. Over TLS each message gets a record of its own: libvirtd reads one message per
// wake-up and does not notice a second one that was decrypted together with the first, so a burst of calls would stall.
import type { Socket } from 'node:net'
import { ConnectionLostError } from '../errors.ts'

/** Where a daemon is and how to reach it: see `unix` and `tls`. */
export interface Endpoint {
  readonly description: string
  connect(timeoutMs: number): Promise<Transport>
}

export interface Receiver {
  data(chunk: Buffer): void
  closed(reason: Error): void
}

interface Outgoing {
  message: Buffer
  written: (() => void) | undefined
}

export class Transport {
  private readonly socket: Socket
  private readonly apart: boolean
  private waiting: Outgoing[] = []
  private writing = false

  /** `apart`: never let two messages be written together. */
  constructor(socket: Socket, options: { apart: boolean }) {
    this.socket = socket
    this.apart = options.apart
    // An error between here and `listen` must not bring the process down; the close that follows it is what counts.
    socket.on('error', () => {})
  }

  listen(receiver: Receiver): void {
    let reason = new ConnectionLostError('the daemon closed the connection', { outcome: 'unknown' })
    this.socket.on('data', (chunk: Buffer) => receiver.data(chunk))
    this.socket.on('error', (error) => {
      reason = new ConnectionLostError(`the connection failed: ${error.message}`, { outcome: 'unknown', cause: error })
    })
    this.socket.on('close', () => receiver.closed(reason))
    if (this.socket.destroyed) process.nextTick(() => receiver.closed(reason))
    this.socket.resume()
  }

  /** `written` is called when the message has left this process: the measure for backpressure. */
  send(message: Buffer, written?: () => void): void {
    if (!this.apart) return this.writeTogether(message, written)
    this.waiting.push({ message, written })
    if (!this.writing) this.writeNext()
  }

  pause(): void {
    this.socket.pause()
  }

  resume(): void {
    this.socket.resume()
  }

  destroy(): void {
    this.waiting = []
    this.socket.destroy()
  }

  /** What is sent in one go of the event loop costs one system call. */
  private writeTogether(message: Buffer, written?: () => void): void {
    if (this.socket.writableCorked === 0) {
      this.socket.cork()
      process.nextTick(() => this.socket.uncork())
    }
    this.socket.write(message, written)
  }

  private writeNext(): void {
    const next = this.waiting.shift()
    this.writing = next !== undefined
    if (next === undefined) return
    this.socket.write(next.message, (error) => {
      if (error) return
      next.written?.()
      this.writeNext()
    })
  }
}

/** Waits for a socket's event, its failure or the deadline, whichever comes first; the socket is destroyed unless the event came. */
export function reached(socket: Socket, event: string, timeoutMs: number, what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      clearTimeout(timer)
      socket.off(event, succeed).off('error', settle).off('close', closed)
      if (error === undefined) return resolve()
      socket.on('error', () => {}).destroy()
      reject(new ConnectionLostError(`${what}: ${error.message}`, { outcome: 'not sent', cause: error }))
    }
    const succeed = () => settle()
    const closed = () => settle(new Error('the other side closed the connection'))
    const timer = setTimeout(() => settle(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs)
    socket.once(event, succeed).once('error', settle).once('close', closed)
  })
}
