// Starts runs in callers' transactions and hands them to workers through pg-boss. A job only names the run; its state is in the journal, so
// a lost or duplicated job does no harm.
import { PgBoss, type Db as QueueDb } from 'pg-boss'
import { subtractDuration } from '../kernel/clock.ts'
import type { Db, Queries, Tx } from '../kernel/database/db.ts'
import { apiError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { rateLimitedWarn } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { trace, traceParent } from '../kernel/tracing.ts'
import type { Engine, QueueName, Workflow } from './workflow-builder.ts'
import { createRunPool, type RunPool } from './run-pool.ts'
import { UNDO_GRACE, type AnyWorkflow, type RunnerDeps } from './executor.ts'
import * as store from './run-store.ts'

/** However many runs wait in one, those of the others do not. */
const QUEUES: Record<QueueName, string> = {
  actions: 'workflow',
  restores: 'workflow_restores',
  bulk: 'workflow_bulk',
  foreign: 'workflow_foreign',
  migrations: 'workflow_migrations',
  moves: 'workflow_moves',
  copies: 'workflow_copies',
}
const queueNames = Object.keys(QUEUES) as QueueName[]
const SCHEMA = 'pgboss'
const UNIQUE_VIOLATION = '23505'
/**
 * Age of an unclaimed run while this worker has free capacity: its job was lost with a worker that had just fetched it. pg-boss itself
 * would notice after 90 seconds.
 */
const REQUEUE_AFTER_MS = 10_000
/** The same without free capacity, when the run may just be queued. */
const REQUEUE_BUSY_AFTER_MS = 5 * 60_000
/** Jobs fetched per poll. */
const BATCH = 8
/** Runs at a time, beside those of the others. Of restores and bulk runs each has tens of MiB in memory. */
const SHARES: Record<QueueName, number> = {
  actions: 1,
  restores: 1 / 4,
  bulk: 1 / 4,
  copies: 1 / 4,
  foreign: 1 / 8,
  migrations: 1 / 8,
  moves: 1 / 8,
}

export interface WorkflowEngine extends Engine {
  /** Starts running workflows in this process. */
  work(stepDeps: unknown, concurrency: number): Promise<void>
  /** Requeues unfinished runs without a worker. */
  requeueAbandonedRuns(): Promise<number>
  /** Claims no more runs and waits for open ones. Those still running when `deadline` is aborted continue in another worker. */
  drain(deadline: AbortSignal): Promise<void>
  stop(): Promise<void>
}

export interface EngineOptions {
  workflows: AnyWorkflow[]
  /** Runs workflows in this process, so it also detects dead workers. */
  supervise: boolean
}

/** Creates or upgrades the queue's tables. Only `migrate` calls this. */
export async function prepareQueue(url: string): Promise<void> {
  const boss = new PgBoss({ connectionString: url, schema: SCHEMA, max: 2, supervise: false, schedule: false })
  boss.on('error', () => {}) // errors that matter are thrown
  await boss.start()
  try {
    for (const queue of Object.values(QUEUES))
      await boss.createQueue(queue, {
        notify: true,
        retryLimit: 1_000_000,
        retryDelay: 1,
        heartbeatSeconds: 10, // detects a killed worker that had fetched jobs without claiming their runs
        expireInSeconds: 6 * 3600,
        deleteAfterSeconds: 600,
      })
  } finally {
    await boss.stop({ graceful: false })
  }
}

export async function startEngine(deps: RunnerDeps, options: EngineOptions): Promise<WorkflowEngine> {
  const { db, clock, log } = deps
  const workflows = new Map(options.workflows.map((each) => [each.name, each]))
  const boss = new PgBoss({
    db: { ...sqlOn(db), listen: listenOn(db) },
    schema: SCHEMA,
    migrate: false,
    useListenNotify: options.supervise,
    supervise: options.supervise,
    schedule: false,
    superviseIntervalSeconds: 5,
    maintenanceIntervalSeconds: 600,
    monitorVacuum: false,
  })
  boss.on('error', rateLimitedWarn(log, 'pg-boss error'))
  await boss.start()
  const stopping = new AbortController()
  const pools = new Map<QueueName, RunPool>()
  const namesIn = (...queues: QueueName[]): string[] =>
    options.workflows.filter(({ queue }) => queues.includes(queue)).map(({ name }) => name)

  /** Compensation is short, and others may wait for it. */
  const enqueue = async (tx: Tx, { id: runId, name, compensating }: store.QueuedRun, at: Date): Promise<void> => {
    const seconds = Math.max(0, Math.ceil((at.getTime() - clock.now().getTime()) / 1000))
    const queue = compensating ? 'actions' : (workflows.get(name)?.queue ?? 'actions')
    await boss.send(QUEUES[queue], { runId }, { db: sqlOn(tx), startAfter: seconds })
  }

  return {
    async start<D, I>(tx: Tx, workflow: Workflow<D, I>, input: I, { label, ownerId, subjectId, runId }: Parameters<Engine['start']>[3]) {
      if (!workflows.has(workflow.name)) throw new Error(`BUG: the workflow ${workflow.name} is not registered`)
      const now = clock.now()
      const id = runId ?? newId()
      const run = { id, name: workflow.name, label, ownerId: ownerId ?? null, subjectId: subjectId ?? null, input, now }
      const deadlineAt = new Date(now.getTime() + workflow.deadlineMs)
      const steps = workflow.steps.filter((step) => step.when?.(input) ?? true).map((step) => step.name)
      await trace(`start ${run.name}`, 'PRODUCER', { 'berth.run_id': id }, null, () => {
        const inserted = store.insertRun(tx, { ...run, deadlineAt, steps, traceParent: traceParent() }).catch(busy)
        return Promise.all([inserted, enqueue(tx, { ...run, compensating: false }, now)])
      })
      return id
    },

    async cancel(tx, runId, userMessage) {
      const now = clock.now()
      const cancelled = await store.cancelRun(tx, runId, userMessage, now)
      if (cancelled) await enqueue(tx, cancelled, now)
      return cancelled !== undefined
    },

    async abort(tx, runId, userMessage) {
      const aborted = await store.abortRun(tx, runId, userMessage, clock.now())
      if (aborted) await enqueue(tx, aborted, aborted.next_attempt_at)
      return aborted !== undefined
    },

    async abandon(tx, runId, userMessage) {
      const now = clock.now()
      const abandoned = await store.abandonRun(tx, runId, userMessage, now, subtractDuration(now, UNDO_GRACE))
      if (abandoned) await enqueue(tx, abandoned, now)
      return abandoned !== undefined
    },

    async retryNow(tx, runId) {
      const now = clock.now()
      const waiting = await store.makeRunDue(tx, runId, now)
      if (waiting) await enqueue(tx, waiting, now)
      return waiting !== undefined
    },

    async work(stepDeps, concurrency) {
      for (const name of workflows.keys()) initCounters(deps.metrics, name)
      const runner = { deps, stepDeps, workflows, enqueue, stopping: stopping.signal }
      for (const queue of queueNames) {
        const pool = createRunPool(runner, Math.ceil(concurrency * SHARES[queue]))
        pools.set(queue, pool)
        const batchSize = queue === 'actions' ? BATCH : 1 // one that ends makes place for the next at once
        const options = { batchSize, burstWhenBatchFull: true, pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 1 }
        await boss.work<{ runId: string }>(QUEUES[queue], options, async (jobs) => {
          for (const { data } of jobs) await pool.claim(data.runId)
          await pool.waitForCapacity(batchSize)
        })
      }
    },

    async requeueAbandonedRuns() {
      const now = clock.now()
      let count = 0
      for (const queue of queueNames) {
        const requeueAfterMs = pools.get(queue)?.hasCapacity() ? REQUEUE_AFTER_MS : REQUEUE_BUSY_AFTER_MS
        const lostBefore = new Date(now.getTime() - requeueAfterMs)
        const names = queue === 'actions' ? namesIn(...queueNames.filter((each) => each !== 'actions')) : namesIn(queue)
        const abandoned = await store.abandonedRuns(db, now, lostBefore, { names, isNamed: queue !== 'actions' })
        for (const run of abandoned) {
          await db.tx(async (tx) => {
            if ((await store.requeueAbandoned(tx, run.id, now, lostBefore)) > 0) await enqueue(tx, run, now)
          })
        }
        count += abandoned.length
      }
      return count
    },

    async drain(deadline) {
      const abort = (): void => stopping.abort(new Error('the process is stopping'))
      if (deadline.aborted) abort()
      deadline.addEventListener('abort', abort, { once: true })
      await Promise.all(queueNames.map((queue) => boss.offWork(QUEUES[queue])))
      await Promise.all([...pools.values()].map((pool) => pool.idle()))
      deadline.removeEventListener('abort', abort)
    },

    stop: () => boss.stop({ graceful: false }),
  }
}

/** increase() needs a first sample of zero, or the first failure would go unnoticed. */
function initCounters({ cleanupFailed, runs }: Metrics, workflow: string): void {
  cleanupFailed.inc({ workflow }, 0)
  runs.inc({ workflow, status: 'FAILED' }, 0)
}

/** pg-boss uses our connections. Single statements are prepared; scripts of several cannot be. */
const sqlOn = (queries: Queries): QueueDb => ({
  async executeSql(text, values = []) {
    const results = [await (text.includes(';') ? queries.raw(text) : queries.raw(text, values))].flat()
    return { rows: results.flatMap(({ rows }) => rows.map(withoutBigints)) }
  },
})

/** pg-boss expects int8 as string, which is node-postgres' default. */
const withoutBigints = (row: unknown): unknown =>
  Object.fromEntries(Object.entries(row as object).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]))

const listenOn =
  (db: Db): NonNullable<QueueDb['listen']> =>
  async (channel, onNotify, onListening) => ({ close: await db.listen(channel, onNotify, (yes) => yes && onListening()) })

/** The partial unique index decides; callers that check before give a better message. */
function busy(error: unknown): never {
  const { code, constraint } = error as { code?: string; constraint?: string }
  if (code === UNIQUE_VIOLATION && constraint === 'workflow_runs_one_open')
    throw apiError('busy', 'Another action is running: wait for it to end')
  throw error
}
