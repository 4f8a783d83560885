// Rolls minutes up into 15-minute rows, once per completed quarter-hour, in one worker.
import { subtractDuration, parseDurationMs } from '../../kernel/clock.ts'
import { reconciler, type Deps } from '../deps.ts'
import { ensurePart, MINUTES, QUARTERS } from './partitions.ts'
import * as sql from './sql.ts'
import { QUARTER } from './time-range.ts'

/** After this delay the last minute of a quarter-hour is written, or its host call has timed out. */
const GRACE = '2m'

export const rollUpMetrics = reconciler('metrics.roll_up', '60s', rollUp)

export async function rollUp({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  const until = await sql.rolledUpUntil(db)
  const end = quarterOf(subtractDuration(clock.now(), GRACE))
  if (until >= end) return
  const oldest = quarterOf(new Date(clock.now().getTime() - MINUTES.keepMs - MINUTES.spanMs)) // older minutes are pruned
  const from = until < oldest ? oldest : until
  for (let at = from.getTime(); at < end.getTime() + QUARTERS.spanMs; at += QUARTERS.spanMs) await ensurePart(db, QUARTERS, new Date(at))
  await db.tx(async (tx) => {
    if (!(await sql.moveRollup(tx, until, end))) return
    await tx.setStatementTimeout('10m') // one scan over a quarter-hour of all VMs
    await sql.rollUp(tx, from, end)
  })
}

const quarterOf = (time: Date): Date => {
  const quarterMs = parseDurationMs(`${QUARTER}s`)
  return new Date(Math.floor(time.getTime() / quarterMs) * quarterMs)
}
