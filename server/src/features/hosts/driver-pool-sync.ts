// Every process that holds driver connections closes those of hosts that were removed or have a new address. Not a reconciler: API
// processes run none, but open consoles on hosts.
import type { Deps } from '../deps.ts'
import { listHosts } from './sql.ts'

const EVERY_MS = 30_000

/** Returns a function that stops the sync. */
export function syncDriverPool({ db, hypervisors, log }: Pick<Deps, 'db' | 'hypervisors' | 'log'>, everyMs = EVERY_MS): () => void {
  const follow = async (): Promise<void> => hypervisors.prune(await listHosts(db))
  const timer = setInterval(
    () => void follow().catch((error: unknown) => log.warn({ err: error }, 'pruning driver pool failed; will retry')),
    everyMs,
  ).unref()
  return () => clearInterval(timer)
}
