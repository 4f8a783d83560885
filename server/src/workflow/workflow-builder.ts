// Defines workflows. A workflow is a list of steps; each may
//   run   change the outside world. Holds no transaction. May run twice, so it must be idempotent.
//   save  change the database. Commits together with the journal entry of the step.
//   undo  compensate a complete or partial `run`. May run twice. What it returns replaces the result of `run` for `onFailure`.
// A permanent failure undoes the started steps in reverse order, then `onFailure` updates the database.
import { parseDurationMs } from '../kernel/clock.ts'
import type { Tx } from '../kernel/database/db.ts'

/** Of a step that says nothing else. */
export const DEFAULT_TRIES = 5

export interface StepContext<D, I, R> {
  deps: D
  runId: string
  input: I
  /** What earlier steps returned from `run`, by step name, after a JSON round trip. */
  results: R
  /** Names of the steps that were ever started. One without a result may have done its work nevertheless. */
  begun: string[]
  /** How often this step was started, including this time. */
  tries: number
  /** Aborted at the step's timeout or when the worker has to stop. */
  signal: AbortSignal
}

export interface SaveContext<D, I, R> {
  deps: D
  runId: string
  input: I
  results: R
  now: Date
}

export interface EndContext<D, I, R> extends SaveContext<D, I, R> {
  /** As that of a step. */
  begun: string[]
  /** Why it failed or was cancelled; null on success. */
  error: { code: string; userMessage: string } | null
  cancelled: boolean
  /** Compensation failed and something is left on a host. */
  cleanupFailed: boolean
}

export interface Step<D = unknown, I = unknown, R = Record<string, unknown>, T = unknown, N extends string = string> {
  run?: (context: StepContext<D, I, R>) => Promise<T>
  save?: (tx: Tx, context: SaveContext<D, I, R & { [K in N]: T }>) => Promise<unknown>
  undo?: (context: StepContext<D, I, Partial<R>>) => Promise<NoInfer<T> | void>
  /** A run whose input says no has no such step: its owner sees only what happens. */
  when?: (input: I) => boolean
  /** Limit for one `run` or `undo`. */
  timeout?: string
  /** Maximum number of attempts. */
  tries?: number
  /** Until it is undone nobody knows where what it made is: that is tried beyond the deadline, and the run stays open meanwhile, unless somebody ends it. */
  mustBeUndone?: boolean
  /** Its guest may draw it out: meanwhile others have the run's place in the worker. */
  waitsForGuest?: boolean
  /** Cleanup after the result is certain: a failure is logged and the run completes. Only optional steps may follow one. */
  optional?: boolean
}

/**
 * Its runs have places of their own in a worker, so that they keep none of another kind waiting. `bulk`: moves whole disks for hours. `restores`:
 * the same, and somebody waits for it. `foreign`: waits for servers of customers, as slow as these like. `migrations`: hosts move machines, as
 * fast as their guests let them. `moves`: the same for customers, who must not keep an operator's drain waiting. `copies`: hosts and storage
 * backends copy whole disks, which costs little and can be had again and again.
 */
export type QueueName = 'actions' | 'restores' | 'bulk' | 'foreign' | 'migrations' | 'moves' | 'copies'

export interface Workflow<D = never, I = never> {
  readonly name: string
  readonly deadlineMs: number
  readonly locks: AcquireLocks<I> | undefined
  readonly queue: QueueName
  readonly steps: readonly (Required<Pick<Step, 'timeout' | 'tries'>> & Step<D, I, never> & { name: string })[]
  readonly success: ((tx: Tx, context: EndContext<D, I, never>) => Promise<unknown>) | undefined
  readonly failure: ((tx: Tx, context: EndContext<D, I, never>) => Promise<unknown>) | undefined
}

/** Acquires the locks that a cancelling transaction acquires before the run's row, in the same order, so that they cannot deadlock. */
type AcquireLocks<I> = (tx: Tx, input: I) => Promise<unknown>

export interface StartOptions {
  /** The action label that the owner sees. */
  label: string
  ownerId?: string
  /** At most one open run per subject: starting a second one fails with `busy`. */
  subjectId?: string
  /** For callers that need the id beforehand. */
  runId?: string
}

/** The part of the engine that features see. */
export interface Engine {
  /** In the caller's transaction: the run exists if and only if it commits. */
  start<D, I>(tx: Tx, workflow: Workflow<D, I>, input: I, options: StartOptions): Promise<string>
  /** Ends an open run as CANCELLED immediately; compensation runs in the background. */
  cancel(tx: Tx, runId: string, userMessage: string): Promise<boolean>
  /**
   * Undoes an open run, which stays open until that is done and then ends as CANCELLED: nothing else begins on its subject meanwhile. Its worker
   * has let go of it before. False where it is being undone already, or has ended.
   */
  abort(tx: Tx, runId: string, userMessage: string): Promise<boolean>
  /** As `cancel`, where compensation cannot succeed: what fails of it is not tried again. */
  abandon(tx: Tx, runId: string, userMessage: string): Promise<boolean>
  /** Makes a run that waits for its next attempt due now; false when it is running or has ended. */
  retryNow(tx: Tx, runId: string): Promise<boolean>
}

export class WorkflowBuilder<D, I, R extends object> implements Workflow<D, I> {
  readonly name: string
  readonly deadlineMs: number
  readonly locks: AcquireLocks<I> | undefined
  readonly queue: QueueName
  readonly steps: Workflow<D, I>['steps']
  readonly success: Workflow<D, I>['success']
  readonly failure: Workflow<D, I>['failure']
  readonly #parts: Workflow<D, I>

  constructor(parts: Workflow<D, I>) {
    this.#parts = parts
    this.name = parts.name
    this.deadlineMs = parts.deadlineMs
    this.locks = parts.locks
    this.queue = parts.queue
    this.steps = parts.steps
    this.success = parts.success
    this.failure = parts.failure
  }

  step<const N extends string, T = undefined>(name: N, step: Step<D, I, R, T, N>): WorkflowBuilder<D, I, R & { [K in N]: T }> {
    if (this.steps.some((each) => each.name === name)) throw new Error(`BUG: ${this.name} has two steps named ${name}`)
    if (this.steps.at(-1)?.optional && !step.optional) throw new Error(`BUG: ${name} of ${this.name} follows an optional step`)
    const next = { timeout: '2m', tries: DEFAULT_TRIES, ...step, name } as unknown as Workflow<D, I>['steps'][number]
    return new WorkflowBuilder({ ...this.#parts, steps: [...this.steps, next] })
  }

  onSuccess(success: (tx: Tx, context: EndContext<D, I, R>) => Promise<unknown>): WorkflowBuilder<D, I, R> {
    return new WorkflowBuilder({ ...this.#parts, success: success as Workflow<D, I>['success'] })
  }

  onFailure(failure: (tx: Tx, context: EndContext<D, I, Partial<R>>) => Promise<unknown>): WorkflowBuilder<D, I, R> {
    return new WorkflowBuilder({ ...this.#parts, failure: failure as Workflow<D, I>['failure'] })
  }
}

export const workflowsFor =
  <D>() =>
  <I>(
    name: string,
    { deadline, locks, queue = 'actions' }: { deadline: string; locks?: AcquireLocks<I>; queue?: QueueName },
  ): WorkflowBuilder<D, I, {}> =>
    new WorkflowBuilder({ name, deadlineMs: parseDurationMs(deadline), locks, queue, steps: [], success: undefined, failure: undefined })

/** Thrown by a step. `retry`: whether another attempt can succeed. The user message is for the customer, the cause for the operator. */
export class StepError extends Error {
  readonly code: string
  readonly retry: boolean

  constructor(code: string, userMessage: string, options: { retry: boolean; cause?: unknown }) {
    super(userMessage, { cause: options.cause })
    this.code = code
    this.retry = options.retry
  }
}
