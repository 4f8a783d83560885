// The worker of a test: runs every open run now, in this process, advancing the clock where a run waits.
import type { ManualClock } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import type { Deps } from '../src/features/deps.ts'
import { workflows } from '../src/features/index.ts'
import { resumeRun, type AnyWorkflow, type Runner } from '../src/workflow/executor.ts'

export interface SettleOptions {
  /** Only runs of these subjects; all by default. */
  subjectId?: string
  /** Maximum number of rounds: each is one attempt of every open run. */
  rounds?: number
}

export function testRunner(deps: Deps): Runner {
  return {
    deps,
    stepDeps: deps,
    workflows: new Map<string, AnyWorkflow>(workflows.map((each) => [each.name, each])),
    enqueue: async () => {},
    stopping: new AbortController().signal,
  }
}

export function settler(deps: Deps, clock: ManualClock) {
  const runner = testRunner(deps)
  const open = (subjectId: string | undefined) =>
    deps.db.many<{ id: string; next_attempt_at: Date }>(sql`
      select id, next_attempt_at from workflow_runs where (status in ('PENDING', 'RUNNING') or compensating)
        and (${subjectId ?? null}::text is null or subject_id = ${subjectId ?? null}) order by id`)
  return async ({ subjectId, rounds = 100 }: SettleOptions = {}): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      const runs = await open(subjectId)
      if (runs.length === 0) return
      const next = Math.min(...runs.map((run) => run.next_attempt_at.getTime()))
      if (next > clock.now().getTime()) clock.set(new Date(next))
      await Promise.all(runs.filter((run) => run.next_attempt_at <= clock.now()).map((run) => resumeRun(runner, run.id)))
    }
    throw new Error(`There are still open runs after ${rounds} rounds`)
  }
}
