// Creates upcoming partitions and drops expired ones.
import { subtractDuration } from '../../kernel/clock.ts'
import { reconciler } from '../deps.ts'
import { dropOldParts, ensurePart, MINUTES, OLD_MINUTES, QUARTERS } from './partitions.ts'
import * as sql from './sql.ts'

/** Longer than any minute is kept, to the drop of its partition. */
const SLOTS_REST = '36h'

export const pruneMetrics = reconciler('metrics.prune', '10m', async ({ db, clock }) => {
  const now = clock.now()
  for (const series of [MINUTES, QUARTERS]) {
    await ensurePart(db, series, new Date(now.getTime() + series.spanMs))
    await dropOldParts(db, series, now)
  }
  await dropOldParts(db, OLD_MINUTES, now)
  await sql.releaseSlots(db, now, subtractDuration(now, SLOTS_REST))
  await sql.forgetLatestBefore(db, subtractDuration(now, '1d'))
})
