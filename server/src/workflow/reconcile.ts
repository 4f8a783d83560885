// Work that nobody asked for and that never ends: a loop that compares what is wanted with what is. It runs on a timer and on a nudge,
// takes no input, and may run in several processes at once, so every pass must be safe to run twice.
import { milliseconds, stopwatch } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'

export interface Reconciler<D> {
  name: string
  everyMs: number
  pass: (deps: D) => Promise<unknown>
}

export const reconcilersFor =
  <D>() =>
  (name: string, every: string, pass: (deps: D) => Promise<unknown>): Reconciler<D> => ({ name, everyMs: milliseconds(every), pass })

export interface Reconcilers {
  /** Runs that reconciler soon instead of at its next time. */
  nudge(name: string): void
  stop(): Promise<void>
}

export function startReconcilers<D extends { log: Log; metrics: Metrics }>(deps: D, reconcilers: Reconciler<D>[]): Reconcilers {
  const loops = new Map(reconcilers.map((each) => [each.name, startLoop(deps, each)]))
  return {
    nudge: (name) => loops.get(name)?.nudge(),
    stop: async () => void (await Promise.all([...loops.values()].map((loop) => loop.stop()))),
  }
}

function startLoop<D extends { log: Log; metrics: Metrics }>(deps: D, reconciler: Reconciler<D>) {
  let timer: NodeJS.Timeout
  let stopped = false
  let running: Promise<void> | null = null
  let again = false

  const pass = async (): Promise<void> => {
    const elapsed = stopwatch()
    const outcome = await reconciler.pass(deps).then(
      () => 'ok',
      (error: unknown) => {
        deps.log.warn({ err: error, reconciler: reconciler.name }, 'reconciler pass failed: it runs again at its next time')
        return 'failed'
      },
    )
    deps.metrics.reconcilers.observe({ reconciler: reconciler.name, outcome }, elapsed() / 1000)
  }
  const turn = (): void => {
    if (stopped || running) return void (again = true)
    again = false
    clearTimeout(timer)
    running = pass().finally(() => {
      running = null
      if (!stopped) timer = setTimeout(turn, again ? 0 : reconciler.everyMs * (0.9 + Math.random() * 0.2)).unref()
    })
  }
  timer = setTimeout(turn, Math.random() * Math.min(reconciler.everyMs, 1_000)).unref()
  return {
    nudge: turn,
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
