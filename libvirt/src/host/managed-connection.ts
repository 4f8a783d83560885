// One kind of traffic to a host: a connection that is replaced when it is lost.
import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from '../connection/connection.ts'
import { ConnectionLostError } from '../errors.ts'
import { pauseMs } from './backoff.ts'
import type { Backoff } from './backoff.ts'

export type LaneName = 'quick' | 'slow' | 'events'

export interface LaneReport {
  lane: LaneName
  state: 'up' | 'down'
  /** Why it went down, or why it could not come up; always there when it is down. */
  reason?: Error
}

export interface LaneOptions {
  name: LaneName
  backoff: Backoff
  open(): Promise<Connection>
  /** Done on each new connection before anyone else may use it. */
  prepare?(connection: Connection): Promise<void>
  changed(report: LaneReport): void
}

export class ManagedConnection {
  /** Undefined while there is no connection. */
  current: Connection | undefined
  private readonly options: LaneOptions
  private readonly stopping = new AbortController()
  private reason: Error = new Error('not connected yet')

  constructor(options: LaneOptions) {
    this.options = options
    void this.run()
  }

  /** Fails at once while the host is away: whoever calls knows best whether to wait. */
  use(procedure: string): Connection {
    if (this.current) return this.current
    const message = `${procedure}: not sent: the ${this.options.name} lane is down: ${this.reason.message}`
    throw new ConnectionLostError(message, { outcome: 'not sent', procedure, cause: this.reason })
  }

  async stop(): Promise<void> {
    this.stopping.abort()
    await this.current?.close()
  }

  private async run(): Promise<void> {
    for (let attempt = 0; !this.isStopped(); attempt++) {
      if (await this.serve()) attempt = 0
      await delay(pauseMs(this.options.backoff, attempt), undefined, { signal: this.stopping.signal }).catch(() => {})
    }
  }

  /** The life of one connection; tells whether there was one. */
  private async serve(): Promise<boolean> {
    try {
      const connection = await this.connect()
      this.current = connection
      this.options.changed({ lane: this.options.name, state: 'up' })
      this.reason = await connection.closed
      return true
    } catch (error) {
      this.reason = error as Error
      return false
    } finally {
      this.current = undefined
      if (!this.isStopped()) this.options.changed({ lane: this.options.name, state: 'down', reason: this.reason })
    }
  }

  private async connect(): Promise<Connection> {
    const connection = await this.options.open()
    try {
      await this.options.prepare?.(connection)
      if (this.isStopped()) throw new Error('the host was closed')
      return connection
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  private isStopped(): boolean {
    return this.stopping.signal.aborted
  }
}
