// Clears away URLs that nobody can use any more and the sessions of processes that died.
import { subtractDuration } from '../../kernel/clock.ts'
import { reconciler } from '../deps.ts'
import * as sql from './sql.ts'

/** So long it is told apart from one that never was. */
const KEEP_LINKS = '1h'

export const pruneConsoles = reconciler('consoles.prune', '60s', async ({ db, clock }) => {
  await sql.deleteLinksOlderThan(db, subtractDuration(clock.now(), KEEP_LINKS))
  await sql.deleteDeadSessions(db, clock.now())
})
