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
  const stopping = new AbortController()
  const observe = createObserver(deps, reconciler.name, stopping.signal)
  const timer = startTimer(reconciler.everyMs, () => observe(work.runOnce()))
  const work = openWork(deps, reconciler, timer.runNow, observe, stopping.signal)
  return {
    trigger: timer.runNow,
    stop: async () => {
      stopping.abort(new Error('the process is stopping'))
      await timer.stop()
      await work.stop()
    },
  }
}

type Observe = (work: Promise<unknown>) => Promise<void>

/** Measures a run and logs its failure; what fails because the process stops is not logged. */
const createObserver =
  ({ log, metrics }: { log: Log; metrics: Metrics }, reconciler: string, stopping: AbortSignal): Observe =>
  async (work) => {
    const elapsed = stopwatch()
    const outcome = await work.then(
      () => 'ok',
      (error: unknown) => {
        if (!stopping.aborted) log.warn({ err: error, reconciler }, 'reconciler run failed; retrying at next interval')
        return 'failed'
      },
    )
    metrics.reconcilers.observe({ reconciler, outcome }, elapsed() / 1000)
  }

/** One run at a time, with a pause between two. `runNow` skips the pause; during a run it asks for one more. */
function startTimer(everyMs: number, run: () => Promise<void>) {
  let running: Promise<void> | null = null
  let again = false
  let stopped = false
  let timer: NodeJS.Timeout
  const runNow = (): void => {
    if (stopped || running) return void (again = true)
    again = false
    clearTimeout(timer)
    running = run().finally(() => {
      running = null
      if (!stopped) timer = setTimeout(runNow, again ? 0 : everyMs * (0.9 + Math.random() * 0.2)).unref()
    })
  }
  timer = setTimeout(runNow, Math.random() * Math.min(everyMs, 1_000)).unref()
  const stop = async (): Promise<void> => {
    stopped = true
    clearTimeout(timer)
    await running
  }
  return { runNow, stop }
}

const openWork = <D>(deps: D, reconciler: Reconciler<D>, again: () => void, observe: Observe, signal: AbortSignal): Opened => {
  if (reconciler.open) return reconciler.open(deps, again)
  if (reconciler.keyed) return keyedWork(deps, reconciler.keyed, again, observe, signal)
  return { runOnce: () => reconciler.runOnce(deps, signal), stop: async () => {} }
}

/** Does not wait for the keys it starts. A key requested while it runs is checked again when it has ended. */
function keyedWork<D>(deps: D, { busy, runOnce }: Keyed<D>, again: () => void, observe: Observe, signal: AbortSignal): Opened {
  const running = new Map<string, Promise<void>>()
  const start = (key: string): Promise<void> => observe(runOnce(deps, key, signal)).finally(() => running.delete(key))
  return {
    runOnce: async () => {
      for (const key of await busy(deps)) {
        const ended = running.get(key)
        if (ended) void ended.then(again)
        else running.set(key, start(key))
      }
    },
    stop: async () => void (await Promise.all(running.values())),
  }
}
