// Whether a host is up: all connections open, and `onUp` has succeeded, which is retried until it does.
import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { pauseMs } from './backoff.ts'
import type { Backoff } from './backoff.ts'

export interface AvailabilityOptions {
  backoff: Backoff
  onUp(): Promise<void> | void
  onDown(reason: Error): void
  onProblem(error: Error): void
}

export class Availability {
  isUp = false
  private readonly options: AvailabilityOptions
  private readonly stopping = new AbortController()
  private readonly emitter = new EventEmitter().setMaxListeners(0)
  private attempt = 0

  constructor(options: AvailabilityOptions) {
    this.options = options
  }

  /** Rejects when stopped, or at the timeout. */
  async reached(timeoutMs?: number): Promise<void> {
    const signals = [this.stopping.signal, ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)])]
    if (!this.isUp) await once(this.emitter, 'up', { signal: AbortSignal.any(signals) })
  }

  /** Ends when the host goes down meanwhile: the next reconnect starts over. */
  async bringUp(): Promise<void> {
    const mine = ++this.attempt
    for (let failures = 0; mine === this.attempt; failures++) {
      try {
        await this.options.onUp()
        if (mine === this.attempt) this.announce()
        return
      } catch (error) {
        this.options.onProblem(error as Error)
        await delay(pauseMs(this.options.backoff, failures), undefined, { signal: this.stopping.signal }).catch(() => {})
      }
    }
  }

  markDown(reason: Error): void {
    this.attempt++
    if (this.isUp) this.options.onDown(reason)
    this.isUp = false
  }

  stop(): void {
    this.attempt++
    this.isUp = false
    this.stopping.abort()
  }

  private announce(): void {
    this.isUp = true
    this.emitter.emit('up')
  }
}
