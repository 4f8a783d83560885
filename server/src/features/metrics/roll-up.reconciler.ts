// Rolls minutes up into 15-minute rows, once per completed quarter-hour, in one worker.
import { subtractDuration } from '../../kernel/clock.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { reconciler, type Deps } from '../deps.ts'
import { ensurePart, MINUTES, QUARTERS } from './partitions.ts'
import { minuteFrom, summarise } from './points.ts'
import * as sql from './sql.ts'
import { QUARTER } from './time-range.ts'

/** After this delay the last minute of a quarter-hour is written, or its host call has timed out. */
const GRACE = '2m'
const BATCH = 1000

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
    await tx.setStatementTimeout('10m')
    await sql.rollUpRows(tx, from, end)
    for (const { host_id, quarter } of await sql.quartersOfHosts(tx, from, end)) await rollUpHost(tx, host_id, quarter)
  })
}

async function rollUpHost(tx: Tx, hostId: string, quarter: Date): Promise<void> {
  const rows = await sql.minutesOfHost(tx, hostId, quarter, after(quarter))
  const minutes = rows.map((row) => ({ at: row.at, ...minuteFrom(row) }))
  const found = (await sql.listSlots(tx, hostId, quarter, after(quarter))).flatMap(({ vm_id, slot, since, left_at }) => {
    const isThere = ({ at }: { at: Date }): boolean => at >= since && (left_at === null || at < left_at)
    const summary = summarise(minutes.filter(isThere), slot)
    return summary ? [{ vm_id, at: quarter, ...summary }] : []
  })
  for (let i = 0; i < found.length; i += BATCH) await sql.addQuarters(tx, found.slice(i, i + BATCH))
}

const quarterMs = QUARTER * 1000
const quarterOf = (time: Date): Date => new Date(Math.floor(time.getTime() / quarterMs) * quarterMs)
const after = (quarter: Date): Date => new Date(quarter.getTime() + quarterMs)
