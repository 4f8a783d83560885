// Reconcilers: loops that compare desired and actual state. They run on a timer and on a trigger, take no input, and may run in several
// processes at once, so every run must be idempotent. A keyed reconciler (one key per host, for example) runs its keys concurrently, so
// that a slow host delays no other.
import { parseDurationMs, stopwatch } from '../kernel/clock.ts'
import { sql, type Db, type Queries } from '../kernel/database/db.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'

export interface Reconciler<D> {
  name: string
  everyMs: number
  /** One run. For the kinds below: until nothing is left to do, as tests and operators need it. */
  runOnce: (deps: D, stopping?: AbortSignal) => Promise<unknown>
  keyed?: Keyed<D>
  open?: Open<D>
}

/** For work that continues between runs: a run only starts some, and `again` triggers the next one when there is capacity. */
type Open<D> = (deps: D, again: () => void) => Opened

export interface Opened {
  runOnce(): Promise<unknown>
  /** Stops the work, in about a second. */
  stop(): Promise<void>
}

interface Keyed<D> {
  /** The keys that have work now. */
  busy: (deps: D) => Promise<string[]>
  /** Aborted when the process has to stop. */
  runOnce: (deps: D, key: string, signal: AbortSignal) => Promise<unknown>
}

export const reconcilersFor =
  <D>() =>
  (name: string, every: string, pass: Reconciler<D>['runOnce']): Reconciler<D> => ({ name, everyMs: parseDurationMs(every), runOnce: pass })

export const keyedReconcilersFor =
  <D>() =>
  (name: string, every: string, keyed: Keyed<D>): Reconciler<D> => ({
    name,
    everyMs: parseDurationMs(every),
    keyed,
    runOnce: async (deps, stopping = new AbortController().signal) =>
      Promise.all((await keyed.busy(deps)).map((key) => keyed.runOnce(deps, key, stopping))),
  })

const TRIGGER_CHANNEL = 'berth_reconciler_triggers'

/** Triggers the reconciler in all processes when the transaction commits. A lost trigger only costs time. */
export const triggerReconciler = (tx: Queries, name: string) => tx.run(sql`select pg_notify(${TRIGGER_CHANNEL}, ${name})`)

export interface Reconcilers {
  /** Runs that reconciler now instead of at its next interval. */
  trigger(name: string): void
  stop(): Promise<void>
}

export function startReconcilers<D extends { log: Log; metrics: Metrics }>(deps: D, reconcilers: Reconciler<D>[]): Reconcilers {
  const loops = new Map(reconcilers.map((each) => [each.name, startLoop(deps, each)]))
  return {
    trigger: (name) => loops.get(name)?.trigger(),
    stop: async () => void (await Promise.all([...loops.values()].map((loop) => loop.stop()))),
  }
}

/** Forwards triggers from all processes; returns how to stop. */
export const listenForTriggers = (db: Db, reconcilers: Reconcilers): Promise<() => Promise<void>> =>
  db.listen(
    TRIGGER_CHANNEL,
    (name) => reconcilers.trigger(name),
    () => {},
  )

function startLoop<D extends { log: Log; metrics: Metrics }>(deps: D, reconciler: Reconciler<D>) {
  let timer: NodeJS.Timeout
  let stopped = false
  let running: Promise<void> | null = null
  let again = false
  const runningKeys = new Map<string, Promise<void>>()
  const stopping = new AbortController()

  const observed = async (work: Promise<unknown>): Promise<void> => {
    const elapsed = stopwatch()
    const outcome = await work.then(
      () => 'ok',
      (error: unknown) => {
        if (!stopped) deps.log.warn({ err: error, reconciler: reconciler.name }, 'reconciler run failed; retrying at next interval')
        return 'failed'
      },
    )
    deps.metrics.reconcilers.observe({ reconciler: reconciler.name, outcome }, elapsed() / 1000)
  }
  /** Does not wait for the keys it starts. A key requested while it runs is checked again when it has ended. */
  const startKeys = async ({ busy, runOnce: pass }: Keyed<D>): Promise<void> => {
    for (const key of await busy(deps)) {
      const ended = runningKeys.get(key)
      if (ended) void ended.then(runNow)
      else
        runningKeys.set(
          key,
          observed(pass(deps, key, stopping.signal)).finally(() => runningKeys.delete(key)),
        )
    }
  }
  const pass = (): Promise<void> => {
    if (opened) return observed(opened.runOnce())
    return observed(reconciler.keyed ? startKeys(reconciler.keyed) : reconciler.runOnce(deps, stopping.signal))
  }
  const runNow = (): void => {
    if (stopped || running) return void (again = true)
    again = false
    clearTimeout(timer)
    running = pass().finally(() => {
      running = null
      if (!stopped) timer = setTimeout(runNow, again ? 0 : reconciler.everyMs * (0.9 + Math.random() * 0.2)).unref()
    })
  }
  const opened = reconciler.open?.(deps, runNow)
  timer = setTimeout(runNow, Math.random() * Math.min(reconciler.everyMs, 1_000)).unref()
  return {
    trigger: runNow,
    stop: async () => {
      stopped = true
      stopping.abort(new Error('the process is stopping'))
      clearTimeout(timer)
      await running
      await Promise.all([...runningKeys.values(), opened?.stop()])
    },
  }
}
