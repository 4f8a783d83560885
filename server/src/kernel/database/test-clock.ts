// A test clock: system time plus an offset stored in the database, so that all processes agree. Only a database created with one has it, so
// the time of real data cannot be moved.
import { systemClock, type Clock } from '../clock.ts'
import { sql, type Db, type Queries } from './db.ts'

const CHANNEL = 'berth_test_clock'

export interface OpenClock {
  clock: Clock
  close(): Promise<void>
}

/** `wanted`: the setting, which must agree with the database. */
export async function openClock(db: Db, wanted: boolean): Promise<OpenClock> {
  let ahead = await readOffset(db, wanted)
  if (ahead === null) return { clock: systemClock, close: async () => {} }
  const read = async (): Promise<void> => void (ahead = (await readOffset(db, true)) ?? 0)
  const close = await db.listen(
    CHANNEL,
    (ms) => void (ahead = Number(ms)),
    (hearing) => void (hearing && read().catch(() => {})), // a failed read is made up for at the next advance
  )
  return { clock: { now: () => later(ahead ?? 0) }, close }
}

/** For a command, which ends before the clock is advanced again. */
export const readClock = async (db: Queries, wanted: boolean): Promise<Date> => later((await readOffset(db, wanted)) ?? 0)

const later = (ms: number): Date => new Date(systemClock.now().getTime() + ms)

/** Null without a test clock. */
async function readOffset(db: Queries, wanted: boolean): Promise<number | null> {
  const row = await db.maybe<{ ahead_ms: bigint }>(sql`select ahead_ms from test_clock`)
  if (row && !wanted) throw new Error('This database has a test clock: set BERTH_TEST_CLOCK=true, or use a database with real data')
  if (!row && wanted) throw new Error(NO_TEST_CLOCK)
  return row ? Number(row.ahead_ms) : null
}

const NO_TEST_CLOCK =
  'BERTH_TEST_CLOCK=true works only with a database created with it, and this one was not: unset it, or set BERTH_DATA_DIR or BERTH_DATABASE_URL to a new one'

/** Adds a test clock to a database that is new. */
export const createTestClock = (db: Queries, isNew: boolean) =>
  db.run(sql`insert into test_clock (is_only) select true where ${isNew} on conflict do nothing`)

/** Every process follows immediately. The clock never goes back: a time that has passed, even while this ran, leaves it unchanged. */
export async function advanceClock(db: Queries, to: Date): Promise<void> {
  const ms = to.getTime() - systemClock.now().getTime()
  await db.run(sql`
    with moved as (update test_clock set ahead_ms = ${ms}::int8 where ahead_ms < ${ms}::int8 returning ahead_ms)
    select pg_notify(${CHANNEL}, ahead_ms::text) from moved`)
}
