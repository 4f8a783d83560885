// The lifecycle of a serving process: it starts, is asked to stop, drains requests and workflow steps, and closes what it opened.
//   SIGINT, SIGTERM, SIGHUP or a closed IPC channel: drain, then stop
//   a second SIGINT: stop now; PostgreSQL is still shut down cleanly
//   an uncaught error: drain, then stop with exit code 1
import { stopwatch } from '../../kernel/clock.ts'

/** A terminal and npm both forward Ctrl-C: a signal within this time is a duplicate. */
const ECHO_MS = 500
/** How long closing may take after the drain deadline; then the process exits without it. */
const OVERTIME_MS = 3_000

export class ProcessLifecycle {
  readonly #patience = new AbortController()
  readonly #patienceMs: number
  readonly #asked = Promise.withResolvers<void>()
  readonly #sinceSignal: (() => number)[] = []
  #why: string | null = null
  failure: unknown = null

  constructor(drainSeconds: number) {
    this.#patienceMs = drainSeconds * 1000
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#heard(signal))
    process.on('uncaughtException', (error) => this.#fail(error))
    process.on('unhandledRejection', (error) => this.#fail(error))
    // A closed pipe on stdout or stderr must not end the process.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
    if (process.channel) {
      process.on('disconnect', () => this.#stop('the program that started it has ended'))
      process.channel.unref()
    }
  }

  /** Aborted at the drain deadline or at a second signal. */
  get patience(): AbortSignal {
    return this.#patience.signal
  }

  get why(): string | null {
    return this.#why
  }

  asked(): Promise<void> {
    return this.#asked.promise
  }

  /** Called between start-up steps, so that nothing more is opened once a stop was requested. */
  throwIfStopping(): void {
    if (this.#why) throw new Interrupted(this.#why)
  }

  /** Awaits `work`, but no longer than CLOSE_TIMEOUT_MS after the drain deadline. */
  async within(work: Promise<unknown>): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const giveUp = (): void => void setTimeout(resolve, OVERTIME_MS)
    if (this.patience.aborted) giveUp()
    else this.patience.addEventListener('abort', giveUp, { once: true })
    await Promise.race([work, late])
  }

  #heard(signal: string): void {
    const [sinceLast] = this.#sinceSignal
    if (sinceLast && sinceLast() < ECHO_MS) return
    this.#sinceSignal[0] = stopwatch()
    if (this.#why) this.#patience.abort()
    else this.#stop(signal)
  }

  #fail(error: unknown): void {
    this.failure ??= error
    this.#stop('an error')
  }

  #stop(why: string): void {
    if (this.#why) return
    this.#why = why
    setTimeout(() => this.#patience.abort(), this.#patienceMs)
    this.#asked.resolve()
  }
}

/** Thrown when a stop is requested during start-up. */
export class Interrupted extends Error {}
