// Deletes expired console URLs and the sessions of crashed processes.
import { subtractDuration } from '../../kernel/clock.ts'
import { reconciler } from '../deps.ts'
import * as sql from './sql.ts'

/** Until then an expired URL is reported as expired instead of unknown. */
const KEEP_LINKS = '1h'

export const pruneConsoles = reconciler('consoles.prune', '60s', async ({ db, clock }) => {
  await sql.deleteLinksOlderThan(db, subtractDuration(clock.now(), KEEP_LINKS))
  await sql.deleteDeadSessions(db, clock.now())
})
