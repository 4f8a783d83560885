// The workflow journal. Every write of a worker carries its attempt and changes nothing when a newer attempt exists (fencing).
import { json, sql, type Queries, type Sql, type Tx } from '../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../kernel/database/page-range.ts'
import { allColumns } from '../schema/columns.ts'
import type { Row } from '../schema/rows.gen.ts'

export type RunRow = Row<'workflow_runs'>
export type RunStatus = RunRow['status']

export type StepRow = Row<'workflow_steps'>

/** This attempt is over: stop and write nothing more. */
export class AttemptLostError extends Error {}

/** A newer attempt owns the run. */
export class FencedError extends AttemptLostError {}

export interface NewRun {
  id: string
  name: string
  label: string
  ownerId: string | null
  subjectId: string | null
  input: unknown
  now: Date
  deadlineAt: Date
  steps: string[]
  traceParent: string | null
}

export async function insertRun(tx: Tx, run: NewRun): Promise<void> {
  await tx.run(sql`
    with run as (
      insert into workflow_runs (id, name, label, owner_id, subject_id, input, next_attempt_at, deadline_at, created_at, trace_parent)
      values (${run.id}, ${run.name}, ${run.label}, ${run.ownerId}, ${run.subjectId}, ${json(run.input)}, ${run.now}, ${run.deadlineAt}, ${run.now}, ${run.traceParent})
      returning id)
    insert into workflow_steps (run_id, position, name, status)
    select run.id, step.position, step.name, 'PENDING' from run, unnest(${run.steps}::text[]) with ordinality as step(name, position)`)
}

/** Claims the run: from here on only this attempt can write. Returns undefined when it has ended or another worker holds it. */
export const claimRun = (db: Queries, id: string, now: Date, leaseUntil: Date) =>
  db.maybe<RunRow>(sql`
    update workflow_runs set attempt = attempt + 1, started_at = coalesce(started_at, ${now}), lease_until = ${leaseUntil},
      status = case when status = 'PENDING' then 'RUNNING' else status end
    where id = ${id} and (status in ('PENDING', 'RUNNING') or compensating) and (lease_until is null or lease_until <= ${now}) returning ${allColumns('workflow_runs')}`)

export const extendLease = (db: Queries, run: RunRow, leaseUntil: Date) =>
  db.run(
    sql`update workflow_runs set lease_until = ${leaseUntil} where id = ${run.id} and attempt = ${run.attempt} and lease_until is not null`,
  )

export const stepsOf = (db: Queries, runIds: string[]) =>
  db.many<StepRow>(sql`select ${allColumns('workflow_steps')} from workflow_steps where run_id = any(${runIds}) order by run_id, position`)

export const beginStep = (db: Queries, run: RunRow, position: number, now: Date) =>
  fenced(
    db.run(sql`
      update workflow_steps s set status = 'RUNNING', tries = tries + 1, started_at = coalesce(s.started_at, ${now}), error = null
      from workflow_runs r where r.id = s.run_id and r.id = ${run.id} and r.attempt = ${run.attempt} and s.position = ${position}`),
  )

/** Locks the run's row until commit, so that no other worker can claim it in between. */
export const lockRun = (tx: Tx, run: RunRow, progress: number) =>
  fenced(tx.run(sql`update workflow_runs set progress = ${progress} where id = ${run.id} and attempt = ${run.attempt}`))

export const completeStep = (tx: Tx, runId: string, position: number, result: unknown, now: Date) =>
  tx.run(sql`
    update workflow_steps set status = 'COMPLETED', result = ${result === undefined ? null : json(result)}, completed_at = ${now}
    where run_id = ${runId} and position = ${position}`)

export const failStep = (tx: Tx, runId: string, position: number, error: string, now: Date) =>
  tx.run(
    sql`update workflow_steps set status = 'FAILED', error = ${error}, completed_at = ${now} where run_id = ${runId} and position = ${position}`,
  )

/** Or given up, which the run remembers. */
export async function markUndone(tx: Tx, { id, cleanup_failed }: RunRow, { position, result }: StepRow, now: Date): Promise<void> {
  await tx.run(sql`
    update workflow_steps set status = 'UNDONE', result = ${result === null ? null : json(result)}, completed_at = ${now}
    where run_id = ${id} and position = ${position}`)
  if (cleanup_failed) await tx.run(sql`update workflow_runs set cleanup_failed = true where id = ${id}`)
}

/** Releases the run until then. */
export const postpone = (tx: Tx, runId: string, until: Date) =>
  tx.run(sql`update workflow_runs set next_attempt_at = ${until}, lease_until = null where id = ${runId}`)

export const startCompensation = (tx: Tx, runId: string, code: string, error: string) =>
  tx.run(sql`update workflow_runs set compensating = true, error_code = ${code}, error = ${error} where id = ${runId}`)

export async function endRun(tx: Tx, runId: string, status: RunStatus, now: Date): Promise<void> {
  await tx.run(sql`
    update workflow_runs set status = ${status}, compensating = false, lease_until = null, completed_at = coalesce(completed_at, ${now}),
      progress = case when ${status} = 'COMPLETED' then 100 else progress end
    where id = ${runId}`)
  await tx.run(sql`select pg_notify('berth_runs', ${runId})`)
}

/** What decides on its queue. */
export type QueuedRun = Pick<RunRow, 'id' | 'name' | 'compensating'>

/** The code of a run that `abortRun` has ended, rather than a failure of its own. */
export const RUN_ABORTED = 'run_aborted'

/** Ends the run for its owner and fences its worker; compensation continues in the background. Nothing where it has ended. */
export const cancelRun = (tx: Tx, runId: string, userMessage: string, now: Date) =>
  tx.maybe<QueuedRun>(sql`
    update workflow_runs set status = 'CANCELLED', compensating = true, lease_until = null, attempt = attempt + 1, completed_at = ${now}, next_attempt_at = ${now},
      error = ${userMessage}, error_code = 'cancelled'
    where id = ${runId} and status in ('PENDING', 'RUNNING') returning id, name, compensating`)

/** The lease of its worker, which is fenced when it renews that, runs out before another begins to undo what it did. */
export const abortRun = (tx: Tx, runId: string, userMessage: string, now: Date) =>
  tx.maybe<QueuedRun & Pick<RunRow, 'next_attempt_at'>>(sql`
    update workflow_runs set compensating = true, attempt = attempt + 1, next_attempt_at = greatest(lease_until, ${now}), error = ${userMessage},
      error_code = ${RUN_ABORTED}
    where id = ${runId} and status in ('PENDING', 'RUNNING') and not compensating returning id, name, compensating, next_attempt_at`)

/** Also of a run that is compensating already. Nothing where it was abandoned before: that would fence its last attempt to undo. */
export const abandonRun = (tx: Tx, runId: string, userMessage: string, now: Date, deadlineAt: Date) =>
  tx.maybe<QueuedRun>(sql`
    update workflow_runs set status = case when status in ('PENDING', 'RUNNING') then 'CANCELLED' else status end, compensating = true,
      lease_until = null, attempt = attempt + 1, completed_at = coalesce(completed_at, ${now}), next_attempt_at = ${now},
      deadline_at = least(deadline_at, ${deadlineAt}), error = ${userMessage}, error_code = 'cancelled'
    where id = ${runId} and (status in ('PENDING', 'RUNNING') or compensating) and not (compensating and deadline_at <= ${deadlineAt})
    returning id, name, compensating`)

export const makeRunDue = (tx: Tx, runId: string, now: Date) =>
  tx.maybe<QueuedRun>(sql`
    update workflow_runs set next_attempt_at = ${now}, lease_until = null
    where id = ${runId} and (status in ('PENDING', 'RUNNING') or compensating) and (lease_until is null or lease_until <= ${now})
    returning id, name, compensating`)

/** Unfinished and without a worker: its lease expired, or its job was lost. */
const isAbandoned = (now: Date, lostBefore: Date) => sql`
  (status in ('PENDING', 'RUNNING') or compensating) and (lease_until <= ${now} or (lease_until is null and next_attempt_at < ${lostBefore}))`

export const abandonedRuns = (db: Queries, now: Date, lostBefore: Date, queue: { names: string[]; isNamed: boolean }) =>
  db.many<QueuedRun>(sql`
    select id, name, compensating from workflow_runs
    where ${isAbandoned(now, lostBefore)} and (name = any(${queue.names}::text[]) and not compensating) = ${queue.isNamed} limit 500`)

/** All workers look for abandoned runs: one that was claimed meanwhile is left alone. */
export const requeueAbandoned = (tx: Tx, runId: string, now: Date, lostBefore: Date) =>
  tx.run(sql`
    update workflow_runs set next_attempt_at = ${now}, lease_until = null where id = ${runId} and ${isAbandoned(now, lostBefore)}`)

/** What comes after the run has ended, or while it is open, as its owner sees it. */
export const setFollowUp = (tx: Tx, runId: string, followUp: object | null) =>
  tx.run(sql`update workflow_runs set follow_up = ${followUp && json(followUp)} where id = ${runId}`)

export const openRunOf = (db: Queries, subjectId: string) =>
  db.maybe<RunRow>(
    sql`select ${allColumns('workflow_runs')} from workflow_runs where subject_id = ${subjectId} and status in ('PENDING', 'RUNNING')`,
  )

export const isBeingUndone = async (db: Queries, subjectId: string): Promise<boolean> =>
  (await db.maybe(sql`select from workflow_runs where subject_id = ${subjectId} and compensating limit 1`)) !== undefined

/** `ownerIds`: a subquery. */
export const countOpenRuns = async (db: Queries, ownerIds: Sql, names: readonly string[]): Promise<number> =>
  (
    await db.one<{ count: number }>(sql`
      select count(*)::int as count from workflow_runs
      where owner_id in ${ownerIds} and name = any(${names}::text[]) and status in ('PENDING', 'RUNNING')`)
  ).count

/** How often a subject's action has failed since then, and when it did so last. */
export const failedRunsOf = (db: Queries, subjectId: string, label: string, since: Date) =>
  db.one<{ count: number; last: Date | null }>(sql`
    select count(*)::int as count, max(completed_at) as last from workflow_runs
    where subject_id = ${subjectId} and label = ${label} and status = 'FAILED' and created_at >= ${since}`)

/** Of a run `r`: it is to be carried out, or still undoes what it did. */
export const isOpen = sql`(r.status in ('PENDING', 'RUNNING') or r.compensating)`

/** Whether such a run is of that subject, as a condition of a larger statement. */
export const hasOpenRun = (subjectId: Sql): Sql => sql`exists (select from workflow_runs r where r.subject_id = ${subjectId} and ${isOpen})`

export type OpenRun = Pick<RunRow, 'id' | 'label' | 'input' | 'status' | 'progress'>

/** The same as a subquery; null when there is none. */
export const openRunAsJson = (subjectId: Sql) => sql`
  (select json_build_object('id', r.id, 'label', r.label, 'input', r.input, 'status', r.status, 'progress', r.progress)
    from workflow_runs r where r.subject_id = ${subjectId} and r.status in ('PENDING', 'RUNNING'))`

export interface RunFilter {
  ownerId: string
  subjectId?: string
  status?: RunStatus
}

const matching = ({ ownerId, subjectId, status }: RunFilter) => sql`
  owner_id = ${ownerId} and (${subjectId ?? null}::text is null or subject_id = ${subjectId ?? null})
  and (${status ?? null}::text is null or status = ${status ?? null})`

export const countRuns = async (db: Queries, filter: RunFilter) =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from workflow_runs where ${matching(filter)}`)).count)

export const listRuns = (db: Queries, filter: RunFilter, range: PageRange) =>
  db.many<RunRow>(sql`select ${allColumns('workflow_runs')} from workflow_runs where ${matching(filter)} ${newestFirst(sql`id`, range)}`)

/** Ended runs are kept for a while, for the history of actions. */
export const deleteRunsEndedBefore = (db: Queries, before: Date) =>
  db.run(
    sql`delete from workflow_runs where id in (select id from workflow_runs where completed_at < ${before} and not compensating and not cleanup_failed limit 5000)`,
  )

export const findRun = (db: Queries, id: string) =>
  db.maybe<RunRow>(sql`select ${allColumns('workflow_runs')} from workflow_runs where id = ${id}`)

async function fenced(changed: Promise<number>): Promise<void> {
  if ((await changed) === 0) throw new FencedError('a newer attempt has taken this run over')
}
