// Puts the ports right after a move that was given up: a port that may still have an address loses it, so that the port of the owner gets it.
import type { Deps } from '../deps.ts'
import { reconciler } from '../deps.ts'
import { finishRelease, FINISH_RELEASES, releasePort } from './move.workflow.ts'
import { unreleased } from './sql.ts'

const TIMEOUT_MS = 20_000

export const finishReleases = reconciler(FINISH_RELEASES, '5s', async (deps: Deps) => {
  for (const { id, vm_id, releasing_vm_id: from } of await unreleased(deps.db))
    if (from !== null)
      await releasePort(deps, from, AbortSignal.timeout(TIMEOUT_MS)).then(
        () => deps.db.tx((tx) => finishRelease(tx, deps.clock.now(), id, from, vm_id)),
        (error: unknown) => deps.log.info({ err: error, addressId: id }, 'taking address from port failed; will retry'),
      )
})
