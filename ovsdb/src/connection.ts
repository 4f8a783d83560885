// One socket: JSON-RPC calls and their replies, notifications, and echo in both directions. It ends when it is closed or lost.
import type { Socket } from 'node:net'
import { CancelledError, ConnectionLostError, ProtocolError, RefusedError, TimeoutError } from './errors.ts'
import { JsonStream } from './json-stream.ts'

export interface CallOptions {
  /** Rejects after this time. Default: 30 s. */
  timeoutMs?: number
  signal?: AbortSignal | undefined
}

export interface ConnectionOptions {
  /** An echo is sent after this time without a message from the server, and the connection counts as lost after twice this time. Default: 5 s. */
  idleMs?: number
  onNotification(method: string, params: unknown[]): void
  onClosed(reason: Error): void
}

interface Call {
  what: string
  resolve(result: unknown): void
  reject(error: Error): void
  cleanUp(): void
}

const CALL_MS = 30_000
const IDLE_MS = 5_000
const CHECKS_UNTIL_ECHO = 2
const CHECKS_UNTIL_LOST = 4
/** Ids of our echoes; calls have numbers. */
const ECHO = 'echo'

interface Message {
  id?: unknown
  method?: unknown
  params?: unknown
  result?: unknown
  error?: unknown
}

export class Connection {
  private readonly socket: Socket
  private readonly options: ConnectionOptions
  private readonly calls = new Map<number, Call>()
  private readonly stream = new JsonStream()
  private readonly watchdog: NodeJS.Timeout
  private silentChecks = 0
  private lastId = 0
  private closedBy: Error | undefined

  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket
    this.options = options
    socket.on('data', (chunk: Buffer) => this.receive(chunk))
    socket.on('error', (error) => this.end(lost(`the connection failed: ${error.message}`, error)))
    socket.on('close', () => this.end(lost('the server closed the connection')))
    this.watchdog = setInterval(() => this.watch(), (options.idleMs ?? IDLE_MS) / CHECKS_UNTIL_ECHO).unref()
  }

  call(method: string, params: unknown[], { timeoutMs = CALL_MS, signal }: CallOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.closedBy) return reject(new ConnectionLostError(this.closedBy.message, { outcome: 'not sent', cause: this.closedBy }))
      if (signal?.aborted) return reject(new CancelledError(`${method}: cancelled`, { outcome: 'not sent', cause: signal.reason }))
      const id = ++this.lastId
      const give = (error: Error): void => {
        this.settle(id)?.reject(error)
        // A transaction that still waits in the server is taken back; one that is under way is not.
        if (method === 'transact') this.send({ method: 'cancel', params: [id], id: null })
      }
      const onAbort = (): void => give(new CancelledError(`${method}: cancelled`, { outcome: 'unknown', cause: signal?.reason }))
      const timer = setTimeout(() => give(new TimeoutError(`${method}: no reply in ${timeoutMs} ms`, { outcome: 'unknown' })), timeoutMs)
      signal?.addEventListener('abort', onAbort, { once: true })
      const cleanUp = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      }
      this.calls.set(id, { what: method, resolve, reject, cleanUp })
      this.send({ method, params, id })
    })
  }

  close(reason: Error = lost('the connection was closed')): void {
    this.end(reason)
  }

  private send(message: Message): void {
    this.socket.write(JSON.stringify(message))
  }

  private receive(chunk: Buffer): void {
    this.silentChecks = 0
    try {
      for (const message of this.stream.push(chunk)) this.dispatch(message as Message)
    } catch (error) {
      this.end(error as Error)
    }
  }

  private dispatch({ id, method, params, result, error }: Message): void {
    if (typeof method === 'string') {
      const list = Array.isArray(params) ? params : []
      if (method === 'echo') return this.send({ id, result: list, error: null })
      return this.options.onNotification(method, list)
    }
    if (id === ECHO) return
    if (typeof id !== 'number') throw new ProtocolError('the server sent a reply without an id')
    const call = this.settle(id) // none: it timed out or was cancelled
    if (error === null || error === undefined) call?.resolve(result)
    else call?.reject(refusal(call.what, error))
  }

  private settle(id: number): Call | undefined {
    const call = this.calls.get(id)
    this.calls.delete(id)
    call?.cleanUp()
    return call
  }

  /** Counts checks rather than time: if this process was busy, what has arrived meanwhile is read between two checks. */
  private watch(): void {
    this.silentChecks++
    if (this.silentChecks > CHECKS_UNTIL_LOST) this.end(lost('the server does not answer'))
    else if (this.silentChecks >= CHECKS_UNTIL_ECHO) this.send({ method: 'echo', params: [], id: ECHO })
  }

  private end(reason: Error): void {
    if (this.closedBy) return
    this.closedBy = reason
    clearInterval(this.watchdog)
    this.socket.destroy()
    for (const id of this.calls.keys()) this.settle(id)?.reject(reason)
    this.options.onClosed(reason)
  }
}

const lost = (message: string, cause?: unknown): ConnectionLostError => new ConnectionLostError(message, { outcome: 'unknown', cause })

/** An error is a string or `{error, details}`. */
export function refusal(what: string, error: unknown, operation: number | null = null): RefusedError {
  if (typeof error === 'string') return new RefusedError(what, error, '', operation)
  const { error: code, details } = error as { error?: unknown; details?: unknown }
  const text = typeof code === 'string' ? code : JSON.stringify(error)
  return new RefusedError(what, text, typeof details === 'string' ? details : '', operation)
}
