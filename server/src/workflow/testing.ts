// Crash tests for every workflow, without test code per step:
//   each step twice      the worker dies after `run` and before its journal entry, so `run` happens again
//   a failure at a step  every step before it is compensated; nothing is left behind
//   each undo twice      the worker dies after an undo and before its journal entry
//   a kill at a commit   the worker dies just before or after any journal write; another finishes the run
import type { Db } from '../kernel/database/db.ts'
import { StepError } from './workflow-builder.ts'
import type { ManualClock } from '../kernel/clock.ts'
import { resumeRun, type AnyWorkflow, type Runner } from './executor.ts'
import * as store from './run-store.ts'

class SimulatedCrash extends store.AttemptLostError {}

export interface CrashTestSetup {
  db: Db
  clock: ManualClock
  runner: Omit<Runner, 'stopping' | 'checkpoint' | 'enqueue'>
  workflow: AnyWorkflow
  /** Creates a new fixture and starts the workflow; returns the run's id. */
  start: () => Promise<string>
  /** What must hold when the run has completed. */
  completed: (run: store.RunRow) => Promise<void>
  /** What must hold when the run has failed: nothing is left behind. */
  failed: (run: store.RunRow) => Promise<void>
}

/**
 * Runs all of the above; throws with the name of the case that failed. Every kill has a run of its own if `thorough`. Otherwise one run is killed
 * at all places, one worker after the other; crashes during compensation are tested only for a failure of the last step, where there is most to
 * compensate; and of two kills that leave the same rows only one is tested.
 */
export async function testCrashSafety(setup: CrashTestSetup, { thorough = true } = {}): Promise<string[]> {
  const trials: string[] = []
  const trial = async (name: string, run: () => Promise<void>): Promise<void> => {
    trials.push(name)
    await run().catch((error: unknown) => {
      throw new Error(`${setup.workflow.name}: ${name}: ${(error as Error).message}`, { cause: error })
    })
  }
  const kills = (seen: string[]): string[][] =>
    thorough ? seen.map((place) => [place]) : [seen.filter((place) => !leavesWhatAnotherLeaves(place))]
  const seen = await checkpoints(setup, setup.workflow)
  const steps = setup.workflow.steps.filter(({ name }) => seen.includes(`${name} begun`)) // the others are not part of these runs
  for (const places of kills(seen)) await trial(`killed at "${places.join('", "')}"`, () => killedAt(setup, setup.workflow, places))
  for (const { name, optional } of steps) {
    const failing = failingAt(setup.workflow, name)
    await trial(`failed at "${name}"`, () => (optional ? endsCompleted(setup, failing) : endsFailed(setup, failing)))
    if (optional) continue
    if (!thorough && name !== steps.findLast((step) => !step.optional)?.name) continue
    for (const places of kills(await checkpoints(setup, failing))) {
      await trial(`failed at "${name}", killed at "${places.join('", "')}"`, () => killedAt(setup, failing, places))
    }
  }
  return trials
}

/** What is not committed is as if it were not written, and a step that has begun has only counted a try: the kill before leaves the same. */
const leavesWhatAnotherLeaves = (place: string): boolean => / begun$|(saved|^end), not committed$/.test(place)

/** The step does its work and then fails permanently: the worst case, because everything must be compensated. */
function failingAt(workflow: AnyWorkflow, name: string): AnyWorkflow {
  const steps = workflow.steps.map((step) => {
    if (step.name !== name) return step
    const run = async (context: never): Promise<never> => {
      await step.run?.(context)
      throw new StepError('planted', 'Failed on purpose', { retry: false })
    }
    return { ...step, run }
  })
  return { ...workflow, steps } as AnyWorkflow
}

async function checkpoints(setup: CrashTestSetup, workflow: AnyWorkflow): Promise<string[]> {
  const seen: string[] = []
  const run = await drive(setup, workflow, await setup.start(), (where) => void seen.push(where))
  await (run.status === 'COMPLETED' ? setup.completed(run) : setup.failed(run))
  return seen
}

/** A kill may spare the run a place, such as a wait that is over when the next worker comes: another run is killed at what is left. */
async function killedAt(setup: CrashTestSetup, workflow: AnyWorkflow, places: string[]): Promise<void> {
  const left = new Set(places)
  const runId = await setup.start()
  const run = await drive(setup, workflow, runId, (where) => {
    if (left.delete(where)) throw new SimulatedCrash(where)
  })
  await (workflow === setup.workflow ? setup.completed(run) : setup.failed(run))
  if (left.size === places.length) throw new Error('was not killed')
  if (left.size > 0) await killedAt(setup, workflow, [...left])
}

async function endsCompleted(setup: CrashTestSetup, workflow: AnyWorkflow): Promise<void> {
  await setup.completed(await drive(setup, workflow, await setup.start()))
}

async function endsFailed(setup: CrashTestSetup, workflow: AnyWorkflow): Promise<void> {
  const run = await drive(setup, workflow, await setup.start())
  if (run.status !== 'FAILED') throw new Error(`ended ${run.status} instead of FAILED`)
  await setup.failed(run)
}

/** Runs a chain of workers, each of which may crash, until the run has ended. */
async function drive(
  setup: CrashTestSetup,
  workflow: AnyWorkflow,
  runId: string,
  checkpoint: (where: string) => void = () => {},
): Promise<store.RunRow> {
  const workflows = new Map(setup.runner.workflows).set(workflow.name, workflow)
  let dead = false
  const runner: Runner = {
    ...setup.runner,
    workflows,
    enqueue: async () => {},
    stopping: new AbortController().signal,
    checkpoint: (where) => {
      if (dead) throw new SimulatedCrash('a dead worker does nothing')
      try {
        checkpoint(where)
      } catch (error) {
        dead = true
        throw error
      }
    },
  }
  for (let worker = 0; worker < 100; worker++) {
    dead = false
    await resumeRun(runner, runId).catch((error: unknown) => {
      if (!(error instanceof SimulatedCrash)) throw error
    })
    const run = await store.findRun(setup.db, runId)
    if (!run) throw new Error(`BUG: run ${runId} is gone`)
    if (run.status !== 'PENDING' && run.status !== 'RUNNING' && !run.compensating) return run
    setup.clock.advance('31s') // the dead worker's lease expires, or the backoff is over
  }
  throw new Error('did not end after 100 workers')
}
