// Hosts that have left the fleet, or have another address, are let go of in every process that holds a connection to them: an API, which
// runs no reconcilers, opens consoles on hosts too.
import type { Deps } from '../deps.ts'
import { listHosts } from './sql.ts'

const EVERY_MS = 30_000

/** Answers how to stop it. */
export function syncDriverPool({ db, hypervisors, log }: Pick<Deps, 'db' | 'hypervisors' | 'log'>, everyMs = EVERY_MS): () => void {
  const follow = async (): Promise<void> => hypervisors.prune(await listHosts(db))
  const timer = setInterval(
    () => void follow().catch((error: unknown) => log.warn({ err: error }, 'pruning driver pool failed; will retry')),
    everyMs,
  ).unref()
  return () => clearInterval(timer)
}
