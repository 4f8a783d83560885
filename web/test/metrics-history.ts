// Load in the past, which a VM that was just created does not have.
import { openDb, sql } from '../../server/src/kernel/database/db.ts'

const DAY_MS = 86_400_000

/** One point per minute of the last `minutes`, and one per quarter of an hour of the last week. */
export async function insertMetrics(databaseUrl: string, vmId: string, minutes = 59): Promise<void> {
  const db = openDb({ url: databaseUrl, maxConnections: 1, onError: () => {} })
  const day = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString()
  await db.raw(`create table if not exists metrics_1m_pictures partition of metrics_1m for values from ('${day(-2)}') to ('${day(1)}')`)
  await db.run(sql`
    insert into metrics_1m (vm_id, at, cpu_percent, ram_used_mib, ram_mib, disk_read_rate, disk_write_rate, network_in_rate, network_out_rate)
    select ${vmId}, date_trunc('minute', now()) - make_interval(mins => n), 35 + 25 * sin(n / 7.0) + 8 * sin(n * 1.7), 620 + 150 * sin(n / 23.0), 1024,
      4e5 * (1.2 + sin(n / 5.0)), 9e5 * (1.3 + sin(n / 9.0)), 6e5 * (1.4 + sin(n / 11.0)), 1.1e6 * (1.4 + sin(n / 8.0))
    from generate_series(1, ${minutes}::int) n
    on conflict do nothing`)
  await db.close()
}
