// Turns of the calls that wait for guests: few at a time, one of each domain, and one of all domains that have answered late, so that these cannot
// keep the others waiting. A call is sent when it has its turn: its timeout does not run before.
import { cancelled } from '../connection/call-messages.ts'
import type { CallOptions } from '../connection/options.ts'

const LATE_MS = 5_000
const LATE_FOR_MS = 600_000

interface Waiting {
  domain: string
  urgent: boolean
  begin: () => void
}

export class GuestTurns {
  private readonly atOnce: number
  private readonly running = new Set<string>()
  private readonly lateUntil = new Map<string, number>()
  private queue: Waiting[] = []

  constructor(atOnce: number) {
    this.atOnce = atOnce
  }

  /** A call whose signal aborts before it has its turn is never sent. */
  async take<T>(domain: string, procedure: string, { signal, urgent = false }: CallOptions, call: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(cancelled(procedure, signal))
      const cancel = () => {
        this.queue = this.queue.filter((other) => other !== waiting)
        reject(cancelled(procedure, signal!))
      }
      const begin = () => {
        signal?.removeEventListener('abort', cancel)
        resolve()
      }
      const waiting: Waiting = { domain, urgent, begin }
      signal?.addEventListener('abort', cancel, { once: true })
      this.queue.push(waiting)
      this.beginNext()
    })
    const begunAt = performance.now()
    try {
      return await call()
    } finally {
      if (performance.now() - begunAt > LATE_MS) this.lateUntil.set(domain, performance.now() + LATE_FOR_MS)
      this.running.delete(domain)
      this.beginNext()
    }
  }

  private beginNext(): void {
    const next = this.queue.find((each) => each.urgent && this.isTurnOf(each)) ?? this.queue.find((each) => this.isTurnOf(each))
    if (!next) return
    this.queue = this.queue.filter((other) => other !== next)
    this.running.add(next.domain)
    next.begin()
    this.beginNext()
  }

  private isTurnOf({ domain }: Waiting): boolean {
    if (this.running.size >= this.atOnce || this.running.has(domain)) return false
    return !this.isLate(domain) || ![...this.running].some((other) => this.isLate(other))
  }

  private isLate(domain: string): boolean {
    const until = this.lateUntil.get(domain)
    if (until !== undefined && until < performance.now()) this.lateUntil.delete(domain)
    return this.lateUntil.has(domain)
  }
}
