// Runs several workflow runs concurrently. One fetcher feeds them all: with one fetcher each, every new job would wake them all for a
// query.
import { executeRun, claimWithSteps, type Runner } from './executor.ts'

export interface RunPool {
  /**
   * Resolves when the run is claimed, or not ours. The job may be acknowledged then: if we die, the lease expires and the run is requeued.
   */
  take(runId: string): Promise<void>
  /** Resolves when `count` more runs fit, or as many as the pool allows. */
  room(count: number): Promise<void>
  hasRoom(): boolean
  /** Resolves when no run is open. */
  idle(): Promise<void>
}

export function createRunPool(runner: Runner, most: number): RunPool {
  const underWay = new Set<Promise<void>>()
  const { log } = runner.deps
  const room = async (count: number): Promise<void> => {
    while (underWay.size > 0 && underWay.size + count > most) await Promise.race(underWay)
  }
  return {
    async take(runId) {
      await room(1)
      const taken = await claimWithSteps(runner, runId)
      if (!taken) return
      const work: Promise<void> = executeRun(runner, taken)
        .catch((error: unknown) => log.error({ err: error, runId }, 'workflow run crashed; retrying after lease expiry'))
        .finally(() => underWay.delete(work))
      underWay.add(work)
    },
    room,
    hasRoom: () => underWay.size < most,
    idle: async () => void (await Promise.all(underWay)),
  }
}
