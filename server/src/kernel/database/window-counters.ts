// Fixed-window counters: how often a key was counted within a window that starts with its first use. Stored in memory for a single process,
// in Redis or PostgreSQL for several.
import { systemClock, withTimeout, type Clock } from '../clock.ts'
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

export function memoryCounters(clock: Clock = systemClock): Counters {
  const windows = new Map<string, { count: number; endsAt: number }>()
  let calls = 0
  const sweep = (now: number): void => {
    for (const [key, window] of windows) if (window.endsAt <= now) windows.delete(key)
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

export function postgresCounters(db: Db, clock: Clock = systemClock): Counters {
  return {
    async add(key, by, windowMs) {
      const now = clock.now()
      const endsAt = new Date(now.getTime() + windowMs)
      const counted = db.one<{ count: number; ends_at: Date }>(sql`
        insert into counters as c (key, count, ends_at) values (${key}, ${by}, ${endsAt})
        on conflict (key) do update set
          count = case when c.ends_at <= ${now} then 0 else c.count end + ${by},
          ends_at = case when c.ends_at <= ${now} then ${endsAt} else c.ends_at end
        returning count, ends_at`)
      const row = await withTimeout(2_000, counted)
      return { count: row.count, resetMs: row.ends_at.getTime() - now.getTime() }
    },
    close: async () => {},
  }
}

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
