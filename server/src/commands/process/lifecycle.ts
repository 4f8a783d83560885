// The lifecycle of a serving process: it starts, is asked to stop, drains requests and workflow steps, and closes what it opened.
//   SIGINT, SIGTERM, SIGHUP or a closed IPC channel: drain, then stop
//   a second SIGINT: stop now; PostgreSQL is still shut down cleanly
//   an uncaught error: drain, then stop with exit code 1
import { stopwatch } from '../../kernel/clock.ts'

/** A terminal and npm both forward Ctrl-C: a signal within this time is a duplicate. */
const DEBOUNCE_MS = 500
/** How long closing may take after the drain deadline; then the process exits without it. */
export const CLOSE_TIMEOUT_MS = 3_000

export class ProcessLifecycle {
  readonly #drainTimer = new AbortController()
  readonly #drainMs: number
  readonly #stopRequested = Promise.withResolvers<void>()
  readonly #sinceSignal: (() => number)[] = []
  #stopReason: string | null = null
  failure: unknown = null

  constructor(drainSeconds: number) {
    this.#drainMs = drainSeconds * 1000
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#onSignal(signal))
    process.on('uncaughtException', (error) => this.fail(error))
    process.on('unhandledRejection', (error) => this.fail(error))
    // A closed pipe on stdout or stderr must not end the process.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
    if (process.channel) {
      process.on('disconnect', () => this.#stop('the program that started it has ended'))
      process.channel.unref()
    }
  }

  /** Aborted at the drain deadline or at a second signal. */
  get drainDeadline(): AbortSignal {
    return this.#drainTimer.signal
  }

  get stopReason(): string | null {
    return this.#stopReason
  }

  stopRequested(): Promise<void> {
    return this.#stopRequested.promise
  }

  /** Called between start-up steps, so that nothing more is opened once a stop was requested. */
  throwIfStopping(): void {
    if (this.#stopReason) throw new Interrupted(this.#stopReason)
  }

  /** Awaits `work`, but no longer than CLOSE_TIMEOUT_MS after the drain deadline. */
  async waitFor(work: Promise<unknown>): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const startTimer = (): void => void setTimeout(resolve, CLOSE_TIMEOUT_MS)
    if (this.drainDeadline.aborted) startTimer()
    else this.drainDeadline.addEventListener('abort', startTimer, { once: true })
    await Promise.race([work, late])
  }

  /** Drains, then stops with exit code 1. */
  fail(error: unknown): void {
    this.failure ??= error
    this.#stop('an error')
  }

  #onSignal(signal: string): void {
    const [sinceLast] = this.#sinceSignal
    if (sinceLast && sinceLast() < DEBOUNCE_MS) return
    this.#sinceSignal[0] = stopwatch()
    if (this.#stopReason) this.#drainTimer.abort()
    else this.#stop(signal)
  }

  #stop(reason: string): void {
    if (this.#stopReason) return
    this.#stopReason = reason
    setTimeout(() => this.#drainTimer.abort(), this.#drainMs)
    this.#stopRequested.resolve()
  }
}

/** Thrown when a stop is requested during start-up. */
export class Interrupted extends Error {}
