// Makes quarters of an hour out of minutes, once for each quarter that is over, in whatever worker comes first.
import { subtractDuration, parseDurationMs } from '../../kernel/clock.ts'
import { reconciler, type Deps } from '../deps.ts'
import { ensurePart, MINUTES, QUARTERS } from './partitions.ts'
import * as sql from './sql.ts'
import { QUARTER } from './time-range.ts'

/** By then the last minute of a quarter has been written, or its host did not answer in time. */
const GRACE = '2m'

export const rollUpMetrics = reconciler('metrics.roll_up', '60s', rollUp)

export async function rollUp({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  const until = await sql.rolledUpUntil(db)
  const end = quarterOf(subtractDuration(clock.now(), GRACE))
  if (until >= end) return
  const oldest = quarterOf(new Date(clock.now().getTime() - MINUTES.keepMs - MINUTES.spanMs)) // no minute is older
  const from = until < oldest ? oldest : until
  for (let at = from.getTime(); at < end.getTime() + QUARTERS.spanMs; at += QUARTERS.spanMs) await ensurePart(db, QUARTERS, new Date(at))
  await db.tx(async (tx) => {
    if (!(await sql.moveRollup(tx, until, end))) return
    await tx.setStatementTimeout('10m') // one pass over a quarter's minutes of all VMs
    await sql.rollUp(tx, from, end)
  })
}

const quarterOf = (time: Date): Date => {
  const quarterMs = parseDurationMs(`${QUARTER}s`)
  return new Date(Math.floor(time.getTime() / quarterMs) * quarterMs)
}
