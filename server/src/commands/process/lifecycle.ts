// The life of a process that serves: it starts, is asked to stop, lets what is under way finish, and takes down what it put up.
//   Ctrl-C, SIGTERM, SIGHUP, or the end of the program that started us: stop, with patience
//   a second Ctrl-C: stop now; PostgreSQL is still shut down in order
//   an error nobody caught: stop, and fail
import { stopwatch } from '../../kernel/clock.ts'

/** A terminal and npm both pass a Ctrl-C on: what follows within this time is the echo of the same one. */
const ECHO_MS = 500
/** What closing may take beyond the patience for requests and steps: it is then left to end with the process. */
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
    // Whoever reads our output may go away; that is no reason to end.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
    if (process.channel) {
      process.on('disconnect', () => this.#stop('the program that started it has ended'))
      process.channel.unref()
    }
  }

  /** Aborted when requests and steps have had their time, or somebody insists. */
  get patience(): AbortSignal {
    return this.#patience.signal
  }

  get why(): string | null {
    return this.#why
  }

  asked(): Promise<void> {
    return this.#asked.promise
  }

  /** Between the steps of a start: nothing more is put up once we have been asked to stop. */
  throwIfStopping(): void {
    if (this.#why) throw new Interrupted(this.#why)
  }

  /** Runs `work`, or leaves it behind when it takes much longer than the patience. */
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

/** Thrown out of a start that was asked to stop before it was done. */
export class Interrupted extends Error {}
