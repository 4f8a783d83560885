import { subtractDuration } from '../../kernel/clock.ts'
import { catalogNumbers } from '../catalog/service.ts'
import { reconciler } from '../deps.ts'
import { deleteBefore } from './sql.ts'

const AT_ONCE = 5_000
/** Where the catalog, which sets it, is older than this setting. */
const KEEP_DAYS = 90n

export const pruneEvents = reconciler('events.prune', '1h', async ({ db, clock }, stopping) => {
  const days = (await catalogNumbers(db)).find('events.keep_days') ?? KEEP_DAYS
  const moment = subtractDuration(clock.now(), `${days}d`)
  while (!stopping?.aborted && (await deleteBefore(db, moment, AT_ONCE)) === AT_ONCE);
})
