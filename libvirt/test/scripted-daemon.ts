// A scripted libvirt daemon for tests, down to single bytes. It answers the handshake itself; the rest is scripted.
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import type { TlsOptions } from 'node:tls'
import { areas, ErrorOrigin, unix } from '../src/index.ts'
import type { Endpoint } from '../src/index.ts'
import type { AnyProcedure } from '../src/protocol/procedure.ts'
import { errorPayload } from '../src/wire/error-payload.ts'
import { encodeFrame, encodePacket, FrameReader, MessageType, Program, Status } from '../src/wire/frame.ts'
import type { Frame } from '../src/wire/frame.ts'
import type { AnyType } from '../src/xdr/types.ts'

/** One client of the daemon, as the script sees it. */
export class Peer {
  readonly socket: Socket

  constructor(socket: Socket) {
    this.socket = socket
  }

  reply(call: Frame, type?: AnyType, value?: unknown): void {
    this.socket.write(replyFrame(call, type, value))
  }

  refuse(call: Frame, code: number, message: string, { origin = ErrorOrigin.qemu as number, errno = 0 } = {}): void {
    const error = { code, origin, message, level: 2, int1: errno, int2: 0 }
    this.socket.write(encodeFrame({ ...call, type: MessageType.reply, status: Status.error }, (to) => errorPayload.write(to, error)))
  }

  packet(call: Frame, status: number, data: Uint8Array = Buffer.alloc(0)): void {
    this.socket.write(encodePacket({ ...call, type: MessageType.stream, status }, data))
  }

  event(procedure: number, type: AnyType, value: unknown): void {
    const header = { program: Program.remote, procedure, type: MessageType.message, serial: 0, status: Status.ok }
    this.socket.write(encodeFrame(header, (to) => type.write(to, value)))
  }
}

export function replyFrame(call: Frame, type?: AnyType, value?: unknown): Buffer {
  return encodeFrame({ ...call, type: MessageType.reply, status: Status.ok }, (to) => type?.write(to, value))
}

type Script = (call: Frame, peer: Peer) => void

export class ScriptedDaemon {
  readonly peers: Peer[] = []
  /** Every frame that arrived, in order. */
  readonly received: Frame[] = []
  /** Called with each keepalive message. */
  onPing: (peer: Peer) => void = () => {}
  private readonly scripts = new Map<number, Script>()
  private server: Server | undefined
  private folder = ''

  /** On a unix socket. */
  static async start(): Promise<ScriptedDaemon> {
    const daemon = new ScriptedDaemon()
    daemon.folder = await mkdtemp(join(tmpdir(), 'scripted-'))
    await daemon.listen()
    return daemon
  }

  /** With TLS, on a free port of 127.0.0.1; it sends the accept byte as libvirtd does. */
  static async startTls(options: TlsOptions, welcome: Uint8Array = Buffer.from([1])): Promise<{ daemon: ScriptedDaemon; port: number }> {
    const daemon = new ScriptedDaemon()
    daemon.server = createTlsServer({ ...options, requestCert: true, rejectUnauthorized: true }, (socket) => {
      socket.write(welcome)
      daemon.serve(socket)
    })
    await new Promise<void>((resolve) => daemon.server?.listen(0, '127.0.0.1', resolve))
    const address = daemon.server.address()
    return { daemon, port: typeof address === 'object' && address ? address.port : 0 }
  }

  get endpoint(): Endpoint {
    return unix(join(this.folder, 'socket'))
  }

  on(procedure: AnyProcedure, script: Script): this {
    this.scripts.set(procedure.number, script)
    return this
  }

  scriptOf(procedure: AnyProcedure): Script | undefined {
    return this.scripts.get(procedure.number)
  }

  /** Starts, or restarts. */
  async listen(): Promise<void> {
    this.server = createServer((socket) => this.serve(socket))
    await new Promise<void>((resolve) => this.server?.listen(join(this.folder, 'socket'), resolve))
  }

  /** As if killed. */
  async vanish(): Promise<void> {
    const closed = new Promise((resolve) => this.server?.close(resolve))
    for (const peer of this.peers.splice(0)) peer.socket.destroy()
    await closed
  }

  async stop(): Promise<void> {
    await this.vanish()
    if (this.folder) await rm(this.folder, { recursive: true, force: true })
  }

  private serve(socket: Socket): void {
    const peer = new Peer(socket)
    const frames = new FrameReader()
    this.peers.push(peer)
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => frames.push(chunk, (frame) => this.hear(frame, peer)))
  }

  private hear(frame: Frame, peer: Peer): void {
    this.received.push(frame)
    if (frame.program === Program.keepalive) this.onPing(peer)
    if (frame.type !== MessageType.call) return
    const script = this.scripts.get(frame.procedure) ?? opening.get(frame.procedure)
    script?.(frame, peer)
  }
}

const { connect } = areas
const opening = new Map<number, Script>([
  [connect.authList.number, (call, peer) => peer.reply(call, connect.authList.result, [0])],
  [connect.supportsFeature.number, (call, peer) => peer.reply(call, connect.supportsFeature.result, 1)],
  [connect.open.number, (call, peer) => peer.reply(call)],
  [connect.close.number, (call, peer) => peer.reply(call)],
])
