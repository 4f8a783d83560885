// Carries out several runs side by side. One fetcher feeds them all: with a fetcher for each, every new job would wake all of them, and
// each would ask the database for it.
import { executeRun, claimWithSteps, type Runner } from './executor.ts'

export interface RunPool {
  /** Answers when the run is ours, or not ours to do. A job may be forgotten then: the lease brings the run back if we die. */
  take(runId: string): Promise<void>
  /** Answers when so many more could be taken, or as many as there can be at all. */
  room(count: number): Promise<void>
  hasRoom(): boolean
  /** Answers when nothing is under way. */
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
