// Tables partitioned by time. A partition is created ahead of time and dropped when all its rows have expired.
import { parseDurationMs } from '../../kernel/clock.ts'
import { sql, type Db, type Tx } from '../../kernel/database/db.ts'
import { partitionName } from '../../kernel/dump/tables.ts'
import { KEEP_MINUTES, KEEP_QUARTERS } from './time-range.ts'

interface Series {
  table: string
  spanMs: number
  keepMs: number
}

export const MINUTES: Series = { table: 'metrics_minutes', spanMs: parseDurationMs('6h'), keepMs: parseDurationMs(KEEP_MINUTES) }
/** Of the version before, a row for each VM. */
export const OLD_MINUTES: Series = { ...MINUTES, table: 'metrics_1m' }
export const QUARTERS: Series = { table: 'metrics_15m', spanMs: parseDurationMs('5d'), keepMs: parseDurationMs(KEEP_QUARTERS) }

/** Serialises creating and dropping partitions across processes. */
const alone = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.tx(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('metrics partitions', 0))`)
    return work(tx)
  })

/** The newest that this process knows to exist, by table. */
const newest = new WeakMap<Db, Map<string, string>>()

export async function ensurePart(db: Db, series: Series, at: Date): Promise<void> {
  const { table, spanMs } = series
  const from = new Date(Math.floor(at.getTime() / spanMs) * spanMs)
  const name = partitionName(table, from)
  const known = newest.get(db) ?? new Map<string, string>()
  if (known.get(table) === name) return
  await createPart(db, series, name, from)
  newest.set(db, known.set(table, name))
}

async function createPart(db: Db, { table, spanMs }: Series, name: string, from: Date): Promise<void> {
  const exists = async (queries: Db | Tx): Promise<boolean> =>
    (await queries.one<{ exists: boolean }>(sql`select exists (select from pg_class where relname = ${name})`)).exists
  if (await exists(db)) return
  await alone(db, async (tx) => {
    if (await exists(tx)) return
    const to = new Date(from.getTime() + spanMs)
    await tx.raw(`create table ${name} (like ${table} including all)`)
    // Created first and attached afterwards, so that concurrent writers are not blocked.
    await tx.raw(`alter table ${table} attach partition ${name} for values from ('${from.toISOString()}') to ('${to.toISOString()}')`)
  })
}

export async function dropOldParts(db: Db, { table, spanMs, keepMs }: Series, now: Date): Promise<void> {
  const parts = await db.many<{ name: string }>(sql`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = ${table}::regclass`)
  const oldest = partitionName(table, new Date(now.getTime() - keepMs - spanMs))
  const old = parts.map(({ name }) => name).filter((name) => name <= oldest)
  if (old.length === 0) return
  await alone(db, async (tx) => {
    await tx.raw(`set local lock_timeout = '5s'`) // retry in the next run rather than queue behind a long read
    await tx.raw(`drop table if exists ${old.join(', ')}`)
  })
}
