// The open streams of one connection, by the serial of the call that opened each.
import { ConnectionLostError } from '../errors.ts'
import type { Direction, StreamProcedure } from '../protocol/procedure.ts'
import type { Transport } from '../transport/transport.ts'
import { encodeFrame, encodePacket, MessageType, Status } from '../wire/frame.ts'
import type { Frame, Header } from '../wire/frame.ts'
import { VolumeStreamFlag } from '../protocol/flags.ts'
import { holePayload } from './hole.ts'
import { RpcStream } from './stream.ts'
import type { StreamLink } from './stream.ts'

export class Streams {
  private readonly transport: Transport
  private readonly open = new Map<number, RpcStream>()
  private readonly paused = new Set<number>()

  constructor(transport: Transport) {
    this.transport = transport
  }

  get isPaused(): boolean {
    return this.paused.size > 0
  }

  /** Registered before the call is sent, because data can arrive before the reply. */
  prepare(procedure: StreamProcedure<never, unknown, Direction>, args: unknown, serial: number) {
    const link = this.link({ program: procedure.program, procedure: procedure.number, type: MessageType.stream, serial, status: Status.ok })
    const { direction } = procedure
    const stream = new RpcStream(link, { direction, procedure: procedure.name, sparse: isSparse(procedure, args) })
    this.open.set(serial, stream)
    return { stream, abort: () => link.send(Status.error, Buffer.alloc(0)) }
  }

  forget(serial: number): void {
    this.open.delete(serial)
    this.resume(serial)
  }

  /** Late packets of an aborted stream are dropped. */
  receive(frame: Frame): void {
    this.open.get(frame.serial)?.receive(frame)
  }

  lose(reason: Error): void {
    for (const stream of this.open.values()) {
      stream.fail(new ConnectionLostError(`the stream was interrupted: ${reason.message}`, { outcome: 'unknown', cause: reason }))
    }
    this.open.clear()
  }

  private link(header: Header): StreamLink {
    return {
      send: (status, data, written) => this.transport.send(encodePacket({ ...header, status }, data), written),
      sendHole: (hole, written) => {
        const asHole = { ...header, type: MessageType.hole, status: Status.continue }
        this.transport.send(
          encodeFrame(asHole, (to) => holePayload.write(to, { length: hole.length, flags: 0 })),
          written,
        )
      },
      pause: () => {
        this.paused.add(header.serial)
        this.transport.pause()
      },
      resume: () => this.resume(header.serial),
      done: () => this.forget(header.serial),
    }
  }

  private resume(serial: number): void {
    if (this.paused.delete(serial) && this.paused.size === 0) this.transport.resume()
  }
}

function isSparse(procedure: StreamProcedure<never, unknown, Direction>, args: unknown): boolean {
  if (!procedure.name.startsWith('STORAGE_VOL_')) return false
  const { flags = 0 } = args as { flags?: number | readonly string[] }
  return typeof flags === 'number' ? (flags & VolumeStreamFlag.sparse) !== 0 : flags.includes('sparse')
}
