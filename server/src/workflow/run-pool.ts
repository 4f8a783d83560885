// Runs several workflow runs concurrently. One fetcher feeds them all: with one fetcher each, every new job would wake them all for a
// query.
import { executeRun, claimWithSteps, type Runner } from './executor.ts'

export interface RunPool {
  /**
   * Resolves when the run is claimed, or not ours. The job may be acknowledged then: if we die, the lease expires and the run is requeued.
   */
  claim(runId: string): Promise<void>
  /** Resolves when `count` more runs fit, or as many as the pool allows. */
  waitForCapacity(count: number): Promise<void>
  hasCapacity(): boolean
  /** Resolves when no run is open. */
  idle(): Promise<void>
}

/** Runs that wait for their guests, for each place: hosts need not boot more at once. */
const MOST_ASIDE = 8

export function createRunPool(runner: Runner, maxRuns: number): RunPool {
  const running = new Set<Promise<void>>()
  const { log } = runner.deps
  let aside = 0
  const held = (): number => running.size - Math.min(aside, MOST_ASIDE * maxRuns)
  let fewer = Promise.withResolvers<void>()
  const tell = (): void => {
    fewer.resolve()
    fewer = Promise.withResolvers()
  }
  const waitForCapacity = async (count: number): Promise<void> => {
    while (held() > 0 && held() + count > maxRuns) await fewer.promise
  }
  /** What comes back goes on at once: little is left to do. */
  const stepAside = async <T>(work: Promise<T>): Promise<T> => {
    aside++
    tell()
    return work.finally(() => aside--)
  }
  return {
    async claim(runId) {
      await waitForCapacity(1)
      const taken = await claimWithSteps(runner, runId)
      if (!taken) return
      const work: Promise<void> = executeRun({ ...runner, aside: stepAside }, taken)
        .catch((error: unknown) => log.error({ err: error, runId }, 'workflow run crashed; retrying after lease expiry'))
        .finally(() => {
          running.delete(work)
          tell()
        })
      running.add(work)
    },
    waitForCapacity,
    hasCapacity: () => held() < maxRuns,
    idle: async () => void (await Promise.all(running)),
  }
}
