// Makes the cleanup of an action fail: its host is unreachable from a given checkpoint until long after its compensation is abandoned.
import { AttemptLostError, findRun } from '../src/workflow/run-store.ts'
import { resumeRun, type Runner } from '../src/workflow/executor.ts'
import { expect } from 'vitest'
import type { TestApp } from './harness.ts'
import { testRunner } from './run-workflows.ts'

/** Longer than every deadline. */
const FOR_GOOD = '7h'

/** Runs the action until `at` (a checkpoint such as `boot saved`), where its host and its worker are lost. */
export async function loseHostAt(app: TestApp, actionId: string, at: string): Promise<void> {
  const checkpoint = (where: string): void => {
    if (where === at) throw new AttemptLostError(`lost at ${at}`)
  }
  const runner: Runner = { ...testRunner(app.deps), checkpoint }
  await expect(resumeRun(runner, actionId)).rejects.toThrow(`lost at ${at}`)
  await app.simulated.faults.loseHost()
  app.clock.advance(FOR_GOOD)
  await app.settle()
  await app.simulated.faults.returnHost()
}

/** The same where there is something to compensate. */
export async function strand(app: TestApp, actionId: string, at: string): Promise<void> {
  await loseHostAt(app, actionId, at)
  expect(await findRun(app.db, actionId)).toMatchObject({ status: 'FAILED', cleanup_failed: true })
}
