// How durable work is written down. A workflow is a list of steps; each may
//   run   touch the world. Holds no transaction. May happen twice, so it uses "ensure" verbs.
//   save  touch the database. Commits together with the journal entry of the step.
//   undo  take back what `run` did or half did. May happen twice.
// A failure that no retry can help undoes the started steps backwards, then `onFailure` settles the database.
import { parseDurationMs } from '../kernel/clock.ts'
import type { Tx } from '../kernel/database/db.ts'

export interface StepContext<D, I, R> {
  deps: D
  runId: string
  input: I
  /** What earlier steps returned from `run`, by step name. It went through JSON. */
  results: R
  /** How often this step was begun, this time included. */
  tries: number
  /** Aborted when the step runs out of time or the worker has to stop. */
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
  /** Why it failed or was cancelled; null on success. */
  error: { code: string; userMessage: string } | null
  cancelled: boolean
  /** Something could not be taken back and is left on a host. */
  stranded: boolean
}

export interface Step<D = unknown, I = unknown, R = Record<string, unknown>, T = unknown, N extends string = string> {
  run?: (context: StepContext<D, I, R>) => Promise<T>
  save?: (tx: Tx, context: SaveContext<D, I, R & { [K in N]: T }>) => Promise<unknown>
  undo?: (context: StepContext<D, I, Partial<R>>) => Promise<unknown>
  /** Longest time one `run` or `undo` may take. */
  timeout?: string
  /** How often `run` is tried when a retry can help. */
  tries?: number
  /** Tidying up after the result is certain: its failure is logged and the run completes all the same. Only such steps may follow one. */
  optional?: boolean
}

export interface Workflow<D = never, I = never> {
  readonly name: string
  readonly deadlineMs: number
  readonly locks: Holds<I> | undefined
  readonly steps: readonly (Required<Pick<Step, 'timeout' | 'tries'>> & Step<D, I, never> & { name: string })[]
  readonly success: ((tx: Tx, context: EndContext<D, I, never>) => Promise<unknown>) | undefined
  readonly failure: ((tx: Tx, context: EndContext<D, I, never>) => Promise<unknown>) | undefined
}

/** Locks what whoever cancels such a run has locked before it: the run's own transactions lock in the same order. */
type Holds<I> = (tx: Tx, input: I) => Promise<unknown>

export interface StartOptions {
  /** What the owner of the run reads it as. */
  label: string
  ownerId?: string
  /** One open run per subject: starting a second one is refused. */
  subjectId?: string
  /** Given by the caller when the id must be known beforehand. */
  runId?: string
}

/** The part of the engine that features see. */
export interface Engine {
  /** In the caller's transaction: the run exists if and only if the transaction commits. */
  start<D, I>(tx: Tx, workflow: Workflow<D, I>, input: I, options: StartOptions): Promise<string>
  /** Ends an open run as CANCELLED at once; what it did is undone in the background. */
  cancel(tx: Tx, runId: string, userMessage: string): Promise<boolean>
  /** Lets an unfinished run that waits for its next attempt be taken up now; false when it is under way or has ended. */
  retryNow(tx: Tx, runId: string): Promise<boolean>
}

export class WorkflowBuilder<D, I, R extends object> implements Workflow<D, I> {
  readonly name: string
  readonly deadlineMs: number
  readonly locks: Holds<I> | undefined
  readonly steps: Workflow<D, I>['steps']
  readonly success: Workflow<D, I>['success']
  readonly failure: Workflow<D, I>['failure']
  readonly #parts: Workflow<D, I>

  constructor(parts: Workflow<D, I>) {
    this.#parts = parts
    this.name = parts.name
    this.deadlineMs = parts.deadlineMs
    this.locks = parts.locks
    this.steps = parts.steps
    this.success = parts.success
    this.failure = parts.failure
  }

  step<const N extends string, T = undefined>(name: N, step: Step<D, I, R, T, N>): WorkflowBuilder<D, I, R & { [K in N]: T }> {
    if (this.steps.some((each) => each.name === name)) throw new Error(`BUG: ${this.name} has two steps named ${name}`)
    if (this.steps.at(-1)?.optional && !step.optional) throw new Error(`BUG: ${name} of ${this.name} follows an optional step`)
    const next = { timeout: '2m', tries: 5, ...step, name } as unknown as Workflow<D, I>['steps'][number]
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
  <I>(name: string, { deadline, locks: holds }: { deadline: string; locks?: Holds<I> }): WorkflowBuilder<D, I, {}> =>
    new WorkflowBuilder({ name, deadlineMs: parseDurationMs(deadline), locks: holds, steps: [], success: undefined, failure: undefined })

/** Thrown by a step. `retry` says whether trying again can help; the user message is for the customer, the cause for the operator. */
export class StepError extends Error {
  readonly code: string
  readonly retry: boolean

  constructor(code: string, userMessage: string, options: { retry: boolean; cause?: unknown }) {
    super(userMessage, { cause: options.cause })
    this.code = code
    this.retry = options.retry
  }
}
