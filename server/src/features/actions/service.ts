// An action is the customer's view of a workflow run. It stays readable after its VM is deleted.
import { ApiResponse, DryRunResult } from '../../http/api/api.ts'
import { pageOf, type Paged, type PageRequest } from '../../http/api/schema.ts'
import type { Queries } from '../../kernel/database/db.ts'
import { notFound } from '../../kernel/errors.ts'
import { countRuns, findRun, listRuns, stepsOf, type RunFilter, type RunRow } from '../../workflow/run-store.ts'
import type { RunWatcher } from '../../workflow/run-watcher.ts'
import type { Action, ActionStarted } from './schema.ts'
import { toAction } from './view.ts'

export async function getAction(db: Queries, ownerId: string, vmId: string, actionId: string): Promise<Action> {
  const run = await findRun(db, actionId)
  if (!run || run.owner_id !== ownerId) throw notFound('Action')
  const action = toAction(run, await stepsOf(db, [run.id]))
  if (action.vmId !== vmId) throw notFound('Action')
  return action
}

/** Long poll: returns when the action has ended, or after `seconds` with its current progress. */
export async function awaitAction(
  db: Queries,
  watch: RunWatcher,
  request: { ownerId: string; vmId: string; actionId: string; seconds: number },
  signal: AbortSignal,
): Promise<Action> {
  const { ownerId, vmId, actionId, seconds } = request
  const action = await getAction(db, ownerId, vmId, actionId)
  if (seconds === 0 || action.completedAt !== null) return action
  await watch.ended(actionId, seconds * 1000, signal)
  return getAction(db, ownerId, vmId, actionId)
}

export async function listActions(db: Queries, filter: RunFilter, page: PageRequest): Promise<Paged<Action>> {
  const { items, total } = await pageOf(
    page,
    () => countRuns(db, filter),
    (range) => listRuns(db, filter, range),
  )
  return { total, items: await withSteps(db, items) }
}

/** Every VM has at least its create action, so an empty list means that this account never owned the VM. */
export async function listVmActions(db: Queries, filter: RunFilter & { subjectId: string }, page: PageRequest): Promise<Paged<Action>> {
  const { ownerId, subjectId } = filter
  if ((await countRuns(db, { ownerId, subjectId })) === 0) throw notFound('VM')
  return listActions(db, filter, page)
}

async function withSteps(db: Queries, runs: RunRow[]): Promise<Action[]> {
  const steps = Map.groupBy(
    await stepsOf(
      db,
      runs.map((run) => run.id),
    ),
    (step) => step.run_id,
  )
  return runs.map((run) => toAction(run, steps.get(run.id) ?? []))
}

/** Answers 202 with the action's Location. A dry run starts no action; its result is returned instead. */
export const accepted = <Data extends ActionStarted, Preview = never>(
  vmId: string,
  result: Data | DryRunResult<Preview>,
): ApiResponse<Data> | DryRunResult<Preview> =>
  result instanceof DryRunResult ? result : new ApiResponse(result, 202, `/vms/${vmId}/actions/${result.actionId}`)
