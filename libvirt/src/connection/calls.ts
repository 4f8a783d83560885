// The calls of one connection: serials, timeouts, replies; at most four in flight, the others queued.
// libvirtd stops reading a connection with five open requests, so a fifth call would also block our keepalive.
// A call that timed out still runs in the daemon: it keeps its slot until its reply comes. A queued call whose signal aborts is never sent.
import { ProtocolError, RemoteError, TimeoutError } from '../errors.ts'
import type { LibvirtError } from '../errors.ts'
import type { Procedure } from '../protocol/procedure.ts'
import { decodeError } from '../wire/error-payload.ts'
import { Status } from '../wire/frame.ts'
import type { Frame } from '../wire/frame.ts'
import { decode } from '../xdr/types.ts'
import { cancelled, encodeCall, lost, undecodable } from './call-messages.ts'
import type { CallReport } from './options.ts'

/** Node's timers fire at once beyond this; 24 days count as infinite. */
const MAX_TIMER_MS = 2 ** 31 - 1

interface Waiting {
  procedure: Procedure<never, unknown>
  serial: number
  frame: Buffer
  timer: NodeJS.Timeout | undefined
  placedAt: number
  sentAt: number | undefined
  /** Undefined once the caller's promise is settled. */
  settle: { resolve(value: unknown): void; reject(error: Error): void } | undefined
  late: ((frame: Frame) => void) | undefined
  /** Only while it is queued. */
  stopWatching: (() => void) | undefined
}

interface Placing {
  serial: number
  timeoutMs: number
  signal?: AbortSignal | undefined
  /** Receives the reply of a call that had timed out. */
  late?: (frame: Frame) => void
}

export interface CallsOptions {
  maxInFlight: number
  send(frame: Buffer): void
  report: ((call: CallReport) => void) | undefined
}

export class Calls {
  private readonly options: CallsOptions
  private readonly inFlight = new Map<number, Waiting>()
  private queue: Waiting[] = []
  private lastSerial = 0
  private lostBy: Error | undefined

  constructor(options: CallsOptions) {
    this.options = options
  }

  nextSerial(): number {
    this.lastSerial = this.lastSerial === 0xffffffff ? 1 : this.lastSerial + 1
    return this.lastSerial
  }

  place<Args, Result>(procedure: Procedure<Args, Result>, args: Args, { serial, timeoutMs, signal, late }: Placing): Promise<Result> {
    return new Promise<unknown>((resolve, reject) => {
      if (this.lostBy) return reject(lost(procedure.name, this.lostBy, 'not sent'))
      if (signal?.aborted) return reject(cancelled(procedure.name, signal))
      const frame = encodeCall(procedure, args, serial)
      const settle = { resolve, reject }
      const unsent = { timer: undefined, placedAt: now(), sentAt: undefined, stopWatching: undefined }
      const call: Waiting = { procedure, serial, frame, settle, late, ...unsent }
      if (timeoutMs < MAX_TIMER_MS) call.timer = setTimeout(() => this.timeOut(call, timeoutMs), timeoutMs)
      this.queue.push(call)
      this.sendQueued()
      if (signal && call.sentAt === undefined) this.watch(call, signal)
    }) as Promise<Result>
  }

  /** Settles the call this reply belongs to. */
  answer(frame: Frame): void {
    const call = this.inFlight.get(frame.serial)
    if (!call || call.procedure.number !== frame.procedure || call.procedure.program !== frame.program) {
      throw new ProtocolError(`a reply to procedure ${frame.procedure} came for the unknown call ${frame.serial}`)
    }
    this.inFlight.delete(frame.serial)
    if (!call.settle) call.late?.(frame)
    else this.settle(call, frame)
    this.sendQueued()
  }

  /** Rejects all calls: the outcome of sent ones is unknown, queued ones were not sent. */
  lose(reason: Error): void {
    this.lostBy = reason
    const all = [...this.inFlight.values(), ...this.queue]
    this.inFlight.clear()
    this.queue = []
    for (const call of all) this.reject(call, lost(call.procedure.name, reason, call.sentAt === undefined ? 'not sent' : 'unknown'))
  }

  private watch(call: Waiting, signal: AbortSignal): void {
    const cancel = () => {
      this.unqueue(call)
      this.reject(call, cancelled(call.procedure.name, signal))
    }
    signal.addEventListener('abort', cancel, { once: true })
    call.stopWatching = () => signal.removeEventListener('abort', cancel)
  }

  private unqueue(call: Waiting): void {
    this.queue = this.queue.filter((other) => other !== call)
  }

  private sendQueued(): void {
    while (this.inFlight.size < this.options.maxInFlight) {
      const call = this.queue.shift()
      if (!call) return
      call.sentAt = now()
      call.stopWatching?.()
      this.inFlight.set(call.serial, call)
      this.options.send(call.frame)
    }
  }

  private settle(call: Waiting, frame: Frame): void {
    try {
      if (frame.status === Status.error) throw decodeError(call.procedure.name, frame.payload)
      if (frame.status !== Status.ok) throw new ProtocolError(`a reply has status ${frame.status}`)
      this.resolve(call, decode(call.procedure.result, frame.payload))
    } catch (error) {
      this.reject(call, error instanceof RemoteError ? error : undecodable(call.procedure.name, error))
    }
  }

  private timeOut(call: Waiting, timeoutMs: number): void {
    const outcome = call.sentAt === undefined ? 'not sent' : 'unknown'
    if (outcome === 'not sent') this.unqueue(call)
    const where = outcome === 'unknown' ? 'it still runs in the daemon' : 'it was still queued'
    const message = `${call.procedure.name}: no reply within ${timeoutMs} ms; ${where}`
    this.reject(call, new TimeoutError(message, { outcome, procedure: call.procedure.name }))
  }

  private resolve(call: Waiting, value: unknown): void {
    this.finish(call, undefined)?.resolve(value)
  }

  private reject(call: Waiting, error: LibvirtError): void {
    this.finish(call, error)?.reject(error)
  }

  private finish(call: Waiting, error: LibvirtError | undefined): Waiting['settle'] {
    const { settle } = call
    call.settle = undefined
    clearTimeout(call.timer)
    call.stopWatching?.()
    if (settle) this.options.report?.(describe(call, error))
    return settle
  }
}

function describe(call: Waiting, error: LibvirtError | undefined): CallReport {
  const sentAt = call.sentAt ?? now()
  return { procedure: call.procedure.name, error, queuedMs: sentAt - call.placedAt, durationMs: now() - sentAt }
}

function now(): number {
  return performance.now()
}
