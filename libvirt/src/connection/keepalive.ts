// Detects a dead peer: any received byte resets it; after an idle interval it sends pings, and gives up after `count` unanswered ones.
//
// Node runs timers before it reads sockets. After a stall (a busy or suspended process) a timer alone would find silence although the bytes
// wait in the socket, so each check runs as an immediate: after the sockets were read.
import { encodeFrame, MessageType, Program, Status } from '../wire/frame.ts'
import type { Frame } from '../wire/frame.ts'

const Message = { ping: 1, pong: 2 } as const

export interface KeepaliveLink {
  send(frame: Buffer): void
  /** While reading is paused, missing data means nothing. */
  isPaused(): boolean
  dead(silentMs: number): void
}

export class Keepalive {
  private readonly link: KeepaliveLink
  private readonly intervalMs: number
  private readonly count: number
  private timer!: NodeJS.Timeout
  private immediate: NodeJS.Immediate | undefined
  private hasReceived = false
  private unanswered = 0

  constructor(link: KeepaliveLink, options: { intervalMs: number; count: number }) {
    this.link = link
    this.intervalMs = options.intervalMs
    this.count = options.count
    this.schedule()
  }

  received(): void {
    this.hasReceived = true
  }

  answer(frame: Frame): void {
    if (frame.procedure === Message.ping) this.link.send(message(Message.pong))
  }

  stop(): void {
    clearTimeout(this.timer)
    clearImmediate(this.immediate)
  }

  private schedule(): void {
    this.timer = setTimeout(() => (this.immediate = setImmediate(() => this.check())), this.intervalMs).unref()
  }

  private check(): void {
    if (this.hasReceived || this.link.isPaused()) this.unanswered = 0
    else if (this.unanswered === this.count) return this.link.dead(this.intervalMs * (this.count + 1))
    else {
      this.unanswered++
      this.link.send(message(Message.ping))
    }
    this.hasReceived = false
    this.schedule()
  }
}

function message(procedure: number): Buffer {
  return encodeFrame({ program: Program.keepalive, procedure, type: MessageType.message, serial: 0, status: Status.ok })
}
