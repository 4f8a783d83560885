// Fixed-window counters: how often a key was counted within a window that starts with its first use. Stored in memory for a single process,
// in Redis or PostgreSQL for several.
import { systemClock, withTimeout, type Clock } from '../clock.ts'
import { coalesce } from '../coalesce.ts'
import { sql, type Db, type Queries } from './db.ts'

export interface Count {
  count: number
  resetMs: number
}

export interface Counters {
  /** Adds `by` (0 = read only) and returns the count of the current window. */
  add(key: string, by: number, windowMs: number): Promise<Count>
  close(): Promise<void>
}

const SWEEP_EVERY = 10_000
/** About 25 MB. A flood from more clients than this cannot be limited by counting them. */
const MAX_WINDOWS = 100_000

export function memoryCounters(clock: Clock = systemClock): Counters {
  const windows = new Map<string, { count: number; endsAt: number }>()
  let calls = 0
  const sweep = (now: number): void => {
    for (const [key, window] of windows) if (window.endsAt <= now) windows.delete(key)
    if (windows.size <= MAX_WINDOWS) return
    // The half that ends first: requests of a minute, not failed sign-ins of a quarter of an hour.
    const byEnd = [...windows].toSorted(([, a], [, b]) => a.endsAt - b.endsAt)
    for (const [key] of byEnd.slice(0, byEnd.length - MAX_WINDOWS / 2)) windows.delete(key)
  }
  return {
    async add(key, by, windowMs) {
      const now = clock.now().getTime()
      if (++calls % SWEEP_EVERY === 0) sweep(now)
      let window = windows.get(key)
      if (!window || window.endsAt <= now) window = { count: 0, endsAt: now + windowMs }
      if (by > 0) windows.set(key, window)
      window.count += by
      return { count: window.count, resetMs: window.endsAt - now }
    },
    close: async () => windows.clear(),
  }
}

interface Addition {
  key: string
  by: number
  windowMs: number
}

/** What is counted at the same time is one statement, so that a flood costs few of them. */
export function postgresCounters(db: Db, clock: Clock = systemClock): Counters {
  const count = coalesce(async (all: Addition[]): Promise<Count[]> => {
    const now = clock.now()
    // A statement may change a row once: additions to one key are added up.
    const sums = new Map<string, { by: number; windowMs: number }>()
    for (const { key, by, windowMs } of all) sums.set(key, { by: (sums.get(key)?.by ?? 0) + by, windowMs })
    const keys = [...sums.keys()].toSorted() // all processes lock rows in this order
    const rows = await db.many<{ key: string; count: number; ends_at: Date }>(sql`
      insert into counters as c (key, count, ends_at)
      select key, by, ends_at from unnest(${keys}::text[], ${keys.map((key) => sums.get(key)!.by)}::int[],
        ${keys.map((key) => new Date(now.getTime() + sums.get(key)!.windowMs))}::timestamptz[]) as a(key, by, ends_at)
      on conflict (key) do update set
        count = case when c.ends_at <= ${now} then 0 else c.count end + excluded.count,
        ends_at = case when c.ends_at <= ${now} then excluded.ends_at else c.ends_at end
      returning key, count, ends_at`)
    const counted = new Map(rows.map((row) => [row.key, { resetMs: row.ends_at.getTime() - now.getTime(), last: row.count }]))
    // Each gets the count as of its own addition.
    return all
      .toReversed()
      .map(({ key, by }): Count => {
        const found = counted.get(key)!
        const own = { count: found.last, resetMs: found.resetMs }
        found.last -= by
        return own
      })
      .toReversed()
  }, BATCHES)
  return {
    add: (key, by, windowMs) => withTimeout(2_000, count({ key, by, windowMs })),
    close: async () => {},
  }
}

/** Two at a time: while one is written, whoever comes next does not wait for its end. */
const BATCHES = { atATime: 2, most: 500 }

export const deleteExpiredCounters = (db: Queries, now: Date): Promise<number> => db.run(sql`delete from counters where ends_at <= ${now}`)

/** The first count of a window sets its expiry, which later counts do not extend. */
const ADD = `
  local count = redis.call('INCRBY', KEYS[1], ARGV[1])
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]); left = tonumber(ARGV[2]) end
  return {count, left}`

export async function redisCounters(url: string, onError: (error: Error) => void): Promise<Counters> {
  const { createClient } = await import('redis') // imported on demand: large, and most installations do not use it
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: 1_000, reconnectStrategy: (tries) => Math.min(tries * 100, 2_000) },
  })
  client.on('error', onError)
  void client.connect().catch(onError) // until Redis is reachable, every count falls back
  return {
    async add(key, by, windowMs) {
      const reply = client.eval(ADD, { keys: [`berth:${key}`], arguments: [String(by), String(windowMs)] })
      const [count, resetMs] = (await withTimeout(250, reply)) as [number, number]
      return { count, resetMs }
    },
    close: async () => client.destroy(),
  }
}

/** Counts in memory, and reports it, while the shared store is unavailable. */
export function withFallback(shared: Counters, fallback: Counters, onFallback: (error: Error) => void): Counters {
  return {
    add: (key, by, windowMs) =>
      shared.add(key, by, windowMs).catch((error: Error) => {
        onFallback(error)
        return fallback.add(key, by, windowMs)
      }),
    close: async () => {
      await Promise.all([shared.close(), fallback.close()])
    },
  }
}
