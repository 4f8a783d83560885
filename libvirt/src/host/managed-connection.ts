// One of the permanent connections of a host, re-opened when it is lost.
import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from '../connection/connection.ts'
import { ConnectionLostError } from '../errors.ts'
import { pauseMs } from './backoff.ts'
import type { Backoff } from './backoff.ts'

export type ConnectionName = 'quick' | 'slow' | 'events'

export interface ConnectionReport {
  connection: ConnectionName
  state: 'up' | 'down'
  /** Why it was lost or could not be opened; always present when it is down. */
  reason?: Error
}

export interface ManagedConnectionOptions {
  name: ConnectionName
  backoff: Backoff
  open(): Promise<Connection>
  /** Runs on each new connection before its first use. */
  prepare?(connection: Connection): Promise<void>
  changed(report: ConnectionReport): void
}

export class ManagedConnection {
  /** Undefined while there is no connection. */
  current: Connection | undefined
  private readonly options: ManagedConnectionOptions
  private readonly stopping = new AbortController()
  private reason: Error = new Error('not connected yet')

  constructor(options: ManagedConnectionOptions) {
    this.options = options
    void this.run()
  }

  /** Fails at once while it is down: the caller decides whether to wait. */
  use(procedure: string): Connection {
    if (this.current) return this.current
    const message = `${procedure}: not sent: the ${this.options.name} connection is down: ${this.reason.message}`
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

  /** Runs until the connection is lost; returns whether it was opened. */
  private async serve(): Promise<boolean> {
    try {
      const connection = await this.connect()
      this.current = connection
      this.options.changed({ connection: this.options.name, state: 'up' })
      this.reason = await connection.closed
      return true
    } catch (error) {
      this.reason = error as Error
      return false
    } finally {
      this.current = undefined
      if (!this.isStopped()) this.options.changed({ connection: this.options.name, state: 'down', reason: this.reason })
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
