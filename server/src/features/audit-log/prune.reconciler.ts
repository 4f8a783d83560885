import { subtractDuration } from '../../kernel/clock.ts'
import { catalogNumbers } from '../catalog/service.ts'
import { reconciler } from '../deps.ts'
import { deleteBefore } from './sql.ts'

const AT_ONCE = 5_000

/** The catalog sets the retention. */
export const pruneAuditLog = reconciler('audit-log.prune', '1h', async ({ db, clock }, stopping) => {
  const days = (await catalogNumbers(db))('audit.keep_days')
  const moment = subtractDuration(clock.now(), `${days}d`)
  while (!stopping?.aborted && (await deleteBefore(db, moment, AT_ONCE)) === AT_ONCE);
})
