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

export function createRunPool(runner: Runner, maxRuns: number): RunPool {
  const running = new Set<Promise<void>>()
  const { log } = runner.deps
  const waitForCapacity = async (count: number): Promise<void> => {
    while (running.size > 0 && running.size + count > maxRuns) await Promise.race(running)
  }
  return {
    async claim(runId) {
      await waitForCapacity(1)
      const taken = await claimWithSteps(runner, runId)
      if (!taken) return
      const work: Promise<void> = executeRun(runner, taken)
        .catch((error: unknown) => log.error({ err: error, runId }, 'workflow run crashed; retrying after lease expiry'))
        .finally(() => running.delete(work))
      running.add(work)
    },
    waitForCapacity,
    hasCapacity: () => running.size < maxRuns,
    idle: async () => void (await Promise.all(running)),
  }
}
