// Executes one run until it ends, has to wait, or is fenced. Safe to call at any time, concurrently and repeatedly.
import { addDuration, parseDurationMs, stopwatch, type Clock } from '../kernel/clock.ts'
import type { Db, Tx } from '../kernel/database/db.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { exemplarLabels, span, trace, traceParent } from '../kernel/tracing.ts'
import { StepError, type EndContext, type Workflow } from './workflow-builder.ts'
import * as store from './run-store.ts'

export interface RunnerDeps {
  db: Db
  clock: Clock
  log: Log
  metrics: Metrics
}

export type AnyWorkflow = Workflow<never, never>

export interface Runner {
  deps: RunnerDeps
  /** Passed to steps as `deps`. */
  stepDeps: unknown
  workflows: ReadonlyMap<string, AnyWorkflow>
  /** Queues the run for that time, in the caller's transaction. */
  enqueue: (tx: Tx, run: store.QueuedRun, at: Date) => Promise<void>
  /** Aborted when the process has to stop. */
  stopping: AbortSignal
  /** The run holds no place until this is done. */
  aside?: <T>(work: Promise<T>) => Promise<T>
  /** Called around every journal write; crash tests throw here. */
  checkpoint?: (where: string) => void
}

/** How long after its deadline a run may retry compensation before it is abandoned, but for steps that must be undone. */
export const UNDO_GRACE = '10m'

/** A worker renews its lease while it works; after a crash another worker claims the run within this time. */
const LEASE = '15s'
const EXTEND_EVERY_MS = 4_000

/** Until a run that this version does not know is offered again, to any worker. */
const LEFT_FOR = '2s'

export async function resumeRun(runner: Runner, runId: string): Promise<void> {
  const taken = await claimWithSteps(runner, runId)
  if (taken) await executeRun(runner, taken)
}

export interface ClaimedRun {
  run: store.RunRow
  steps: store.StepRow[]
}

const leaseUntil = ({ deps }: Runner): Date => addDuration(deps.clock.now(), LEASE)

/** Claims the run for one lease. Returns undefined when it has ended, another worker holds it, or only a newer version knows it. */
export async function claimWithSteps(runner: Runner, runId: string): Promise<ClaimedRun | undefined> {
  const { db, clock } = runner.deps
  const [run, asWritten] = await Promise.all([
    store.claimRun(db, runId, clock.now(), leaseUntil(runner)),
    store.stepsOf(db, [runId]), // valid for the first attempt
  ])
  if (!run) return undefined
  const steps = run.attempt === 1 ? asWritten : await store.stepsOf(db, [runId])
  if (isKnown(runner, run, steps)) return { run, steps }
  await leaveToOthers(runner, run)
  return undefined
}

function isKnown({ workflows }: Runner, { name }: store.RunRow, steps: store.StepRow[]): boolean {
  const workflow = workflows.get(name)
  return workflow !== undefined && steps.every((row) => workflow.steps.some((step) => step.name === row.name))
}

/** During an upgrade a worker of the version that has started it is there too. */
async function leaveToOthers(runner: Runner, run: store.RunRow): Promise<void> {
  const { db, clock, log } = runner.deps
  const until = addDuration(clock.now(), LEFT_FOR)
  await db.tx(async (tx) => {
    await store.lockRun(tx, run, run.progress)
    await store.postpone(tx, run.id, until)
    await runner.enqueue(tx, run, until)
  })
  log.warn({ runId: run.id, workflow: run.name }, 'run has steps of another version; left to its workers')
}

export async function executeRun(runner: Runner, { run, steps }: ClaimedRun): Promise<void> {
  const { db, log } = runner.deps
  const { id: runId } = run
  const workflow = runner.workflows.get(run.name)
  if (!workflow) throw new Error(`BUG: no workflow is named ${run.name}`)
  const lost = new AbortController()
  const extend = (): void =>
    void store.extendLease(db, run, leaseUntil(runner)).then(
      (kept) => kept === 0 && lost.abort(new store.FencedError('the run was cancelled, or a newer attempt has taken it over')),
      (error: unknown) => log.warn({ err: error, runId }, 'extending run lease failed'),
    )
  const timer = setInterval(extend, EXTEND_EVERY_MS)
  try {
    const ids = { 'berth.run_id': runId, 'berth.attempt': run.attempt, ...(run.subject_id && { 'berth.subject_id': run.subject_id }) }
    await trace(`run ${run.name}`, 'CONSUMER', ids, run.trace_parent, () =>
      new RunExecution(runner, run, workflow, steps, lost.signal).go(),
    )
  } catch (error) {
    if (!(error instanceof store.FencedError)) throw error
    log.info({ runId, attempt: run.attempt }, 'run fenced by newer attempt')
  } finally {
    clearInterval(timer)
  }
}

type Handler = AnyWorkflow['steps'][number]

/** As the journal returns it. */
const toJson = (result: unknown): unknown => (result === undefined ? null : JSON.parse(JSON.stringify(result)))

class RunExecution {
  readonly #runner: Runner
  readonly #run: store.RunRow
  readonly #workflow: AnyWorkflow
  readonly #steps: store.StepRow[]
  /** Aborted when the run is no longer this worker's: a step that went on would keep a place in the pool, for hours where it is bulk. */
  readonly #lost: AbortSignal

  constructor(runner: Runner, run: store.RunRow, workflow: AnyWorkflow, steps: store.StepRow[], lost: AbortSignal) {
    this.#runner = runner
    this.#run = run
    this.#workflow = workflow
    this.#steps = steps
    this.#lost = lost
  }

  async go(): Promise<void> {
    if (!this.#run.compensating && (await this.#forward())) return
    if (this.#run.compensating) await this.#backward()
  }

  /** Returns true when there is nothing more to do now. */
  async #forward(): Promise<boolean> {
    for (const [index, row] of this.#steps.entries()) {
      const { optional } = this.#handler(row)
      if (row.status === 'COMPLETED' || (optional && (row.status === 'FAILED' || this.#late()))) continue
      if (this.#late())
        return this.#giveUp(row, new StepError('deadline', 'It took longer than its deadline and was stopped', { retry: false }))
      const outcome = await this.#attempt(row, index === this.#steps.length - 1)
      if (outcome !== null) return outcome
    }
    if (this.#steps.at(-1)?.status !== 'COMPLETED') await this.#journal('end', 100, (tx) => this.#end(tx, 'COMPLETED'))
    return true
  }

  async #attempt(row: store.StepRow, last: boolean): Promise<boolean | null> {
    const handler = this.#handler(row)
    await store.beginStep(this.#db, this.#run, row.position, this.#now())
    row.status = 'RUNNING'
    row.tries++
    this.#at(`${row.name} begun`)
    const elapsed = stopwatch()
    try {
      const result = await this.#inTime(row, handler, 'run')
      this.#at(`${row.name} run`)
      row.result = toJson(result)
      await this.#journal(`${row.name} saved`, this.#progress(row), async (tx) => {
        await handler.save?.(tx, this.#endContext() as never)
        await store.completeStep(tx, this.#run.id, row.position, result, this.#now())
        if (last) await this.#end(tx, 'COMPLETED')
      })
      row.status = 'COMPLETED'
      this.#observe(row, 'completed', elapsed())
      return null
    } catch (error) {
      if (error instanceof store.AttemptLostError) throw error
      this.#observe(row, 'failed', elapsed())
      return this.#failed(row, handler, error)
    }
  }

  async #failed(row: store.StepRow, handler: Handler, error: unknown): Promise<boolean | null> {
    const { log } = this.#runner.deps
    log.warn({ err: error, runId: this.#run.id, workflow: this.#run.name, step: row.name, tries: row.tries }, 'workflow step failed')
    if (this.#runner.stopping.aborted) return this.#wait(0)
    const retry = (error as { retry?: unknown }).retry !== false
    if (retry && row.tries < handler.tries && !this.#late()) return this.#wait(row.tries)
    return handler.optional ? this.#doWithout(row, error) : this.#giveUp(row, error)
  }

  async #doWithout(row: store.StepRow, error: unknown): Promise<null> {
    const { userMessage } = explain(error)
    await this.#journal(`${row.name} given up`, this.#progress(row), (tx) =>
      store.failStep(tx, this.#run.id, row.position, userMessage, this.#now()),
    )
    row.status = 'FAILED'
    return null
  }

  async #giveUp(row: store.StepRow, error: unknown): Promise<false> {
    const { code, userMessage } = explain(error)
    const { id, name, subject_id } = this.#run
    this.#runner.deps.log.warn({ err: error, runId: id, workflow: name, step: row.name, subjectId: subject_id }, 'workflow run failed')
    await this.#journal('compensating', this.#run.progress, async (tx) => {
      if (row.status === 'RUNNING') await store.failStep(tx, this.#run.id, row.position, userMessage, this.#now())
      await store.startCompensation(tx, this.#run.id, code, userMessage)
    })
    if (row.status === 'RUNNING') row.status = 'FAILED'
    Object.assign(this.#run, { compensating: true, error: userMessage, error_code: code })
    return false
  }

  async #backward(): Promise<void> {
    for (const row of this.#steps.toReversed()) {
      if (row.status === 'PENDING' || row.status === 'UNDONE') continue
      try {
        row.result = toJson(await this.#inTime(row, this.#handler(row), 'undo')) ?? row.result
      } catch (error) {
        if (error instanceof store.AttemptLostError) throw error
        this.#runner.deps.log.warn({ err: error, runId: this.#run.id, step: row.name }, 'step compensation failed')
        if (this.#mayUndo(row)) return void (await this.#wait(5))
        this.#run.cleanup_failed = true
      }
      this.#at(`${row.name} undone`)
      await this.#journal(`${row.name} undo saved`, this.#run.progress, (tx) => store.markUndone(tx, this.#run, row, this.#now()))
    }
    if (this.#run.cleanup_failed) this.#tellOperator()
    await this.#journal('end', this.#run.progress, (tx) => this.#end(tx, this.#isCancelled() ? 'CANCELLED' : 'FAILED'))
  }

  #mayUndo = (row: store.StepRow): boolean =>
    this.#now() < addDuration(this.#run.deadline_at, UNDO_GRACE) ||
    (this.#handler(row).mustBeUndone === true && this.#run.status === 'RUNNING')

  #tellOperator(): void {
    this.#runner.deps.metrics.cleanupFailed.inc({ workflow: this.#run.name })
    this.#runner.deps.log.error({ runId: this.#run.id, workflow: this.#run.name }, 'compensation abandoned; manual cleanup required')
  }

  async #end(tx: Tx, status: store.RunStatus): Promise<void> {
    const hook = status === 'COMPLETED' ? this.#workflow.success : this.#workflow.failure
    await hook?.(tx, this.#endContext() as never)
    await store.endRun(tx, this.#run.id, status, this.#now())
    tx.afterCommit(() => this.#runner.deps.metrics.runs.inc({ workflow: this.#run.name, status }))
  }

  /** Leaves the run to a later job: immediately, or after an exponential backoff (1, 2, 4, 8 … 30 seconds). */
  async #wait(tries: number): Promise<true> {
    const seconds = tries === 0 ? 0 : Math.min(2 ** (tries - 1), 30)
    const until = addDuration(this.#now(), `${seconds}s`)
    await this.#journal('waiting', this.#run.progress, async (tx) => {
      await store.postpone(tx, this.#run.id, until)
      await this.#runner.enqueue(tx, this.#run, until)
    })
    return true
  }

  async #inTime(row: store.StepRow, handler: Handler, verb: 'run' | 'undo'): Promise<unknown> {
    const work = handler[verb]
    // An older release has started it with all steps.
    if (!work || handler.when?.(this.#run.input as never) === false) return undefined
    const timeoutMs = parseDurationMs(handler.timeout)
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#runner.stopping, this.#lost])
    const context = {
      deps: this.#runner.stepDeps,
      runId: this.#run.id,
      input: this.#run.input,
      results: this.#results(),
      begun: this.#begun(),
      tries: row.tries,
      signal,
    }
    const done = span(`${verb} ${this.#run.name}.${row.name}`, { 'berth.run_id': this.#run.id, 'berth.tries': row.tries }, () =>
      Promise.race([work(context as never), aborted(signal, handler)]),
    )
    return handler.waitsForGuest && this.#runner.aside ? this.#runner.aside(done) : done
  }

  #journal(where: string, progress: number, write: (tx: Tx) => Promise<unknown>): Promise<void> {
    return this.#db
      .tx(async (tx) => {
        await this.#workflow.locks?.(tx, this.#run.input as never)
        await store.lockRun(tx, this.#run, progress)
        await write(tx)
        this.#at(`${where}, not committed`)
      })
      .then(() => this.#at(where))
  }

  #endContext(): EndContext<unknown, unknown, object> {
    const { id, input, error, error_code } = this.#run
    const why = this.#run.compensating ? { code: error_code ?? 'internal_error', userMessage: error ?? '' } : null
    return {
      deps: this.#runner.stepDeps,
      runId: id,
      input,
      results: this.#results(),
      begun: this.#begun(),
      now: this.#now(),
      error: why,
      cancelled: this.#isCancelled(),
      cleanupFailed: this.#run.cleanup_failed,
    }
  }

  #results(): Record<string, unknown> {
    return Object.fromEntries(this.#steps.filter((row) => row.result !== null).map((row) => [row.name, row.result]))
  }

  #begun = (): string[] => this.#steps.filter(({ status }) => status !== 'PENDING').map(({ name }) => name)

  #handler(row: store.StepRow): Handler {
    const handler = this.#workflow.steps.find((step) => step.name === row.name)
    if (!handler) throw new Error(`BUG: ${this.#run.name} has no step ${row.name}`)
    return handler
  }

  #progress = (row: store.StepRow): number => Math.round((100 * row.position) / this.#steps.length)
  #isCancelled = (): boolean => this.#run.status === 'CANCELLED' || this.#run.error_code === store.RUN_ABORTED
  #late = (): boolean => this.#now() >= this.#run.deadline_at
  #now = (): Date => this.#runner.deps.clock.now()
  #at = (where: string): void => this.#runner.checkpoint?.(where)
  #observe = (row: store.StepRow, outcome: string, ms: number): void =>
    this.#runner.deps.metrics.steps.observe({
      labels: { workflow: this.#run.name, step: row.name, outcome },
      value: ms / 1000,
      ...exemplarLabels(traceParent()),
    })

  get #db(): Db {
    return this.#runner.deps.db
  }
}

const aborted = (signal: AbortSignal, { name, timeout }: Handler): Promise<never> =>
  new Promise((_, reject) => {
    const tooLate = (): void => {
      const { reason } = signal
      if (reason instanceof store.AttemptLostError) reject(reason)
      else reject(new StepError('timeout', `The step ${name} did not finish within ${timeout}`, { retry: true, cause: reason }))
    }
    if (signal.aborted) tooLate()
    else signal.addEventListener('abort', tooLate, { once: true })
  })

/** Customers see only messages that were written for customers. */
function explain(error: unknown): { code: string; userMessage: string } {
  if (error instanceof StepError) return { code: error.code, userMessage: error.message }
  const { code, userMessage } = error as { code?: unknown; userMessage?: unknown }
  if (typeof userMessage === 'string') return { code: typeof code === 'string' ? code : 'failed', userMessage }
  return { code: 'internal_error', userMessage: 'Something went wrong on our side. Contact support if it happens again' }
}
