// Creates upcoming partitions and drops expired ones.
import { subtractDuration } from '../../kernel/clock.ts'
import { reconciler } from '../deps.ts'
import { dropOldParts, ensurePart, MINUTES, QUARTERS } from './partitions.ts'
import * as sql from './sql.ts'

export const pruneMetrics = reconciler('metrics.prune', '10m', async ({ db, clock }) => {
  const now = clock.now()
  for (const series of [MINUTES, QUARTERS]) {
    await ensurePart(db, series, new Date(now.getTime() + series.spanMs))
    await dropOldParts(db, series, now)
  }
  await sql.forgetLatestBefore(db, subtractDuration(now, '1d'))
})
