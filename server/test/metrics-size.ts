// The cost of one minute of metrics for any number of VMs.
import { expect } from 'vitest'
import { rollUp } from '../src/features/metrics/roll-up.reconciler.ts'
import { sampleHost } from '../src/features/metrics/sample.reconciler.ts'
import { simulatedDrivers } from '../src/hypervisor/simulated/driver.ts'
import { instantPace } from '../src/hypervisor/simulated/latency.ts'
import { manualClock, stopwatch } from '../src/kernel/clock.ts'
import { openDb, sql } from '../src/kernel/database/db.ts'
import { counting } from './counting-db.ts'
import { testDatabase } from './harness.ts'
import { fillHost } from './metering-size.ts'

/** One statement per host and minute; for 15 minutes one per thousand VMs. */
export async function provesCheapMetrics(count: number): Promise<void> {
  const plain = openDb({ url: await testDatabase(), maxConnections: 3, onError: () => {} })
  try {
    const { db, statements } = counting(plain)
    const clock = manualClock(new Date('2026-03-01T00:00:05Z'))
    const { id, uri } = await plain.one<{ id: string; uri: string }>(sql`select id, uri from hosts limit 1`)
    await fillHost(plain, clock.now(), id, count)
    await plain.run(sql`update simulated.machines set started_at = ${clock.now()}`)
    const driver = simulatedDrivers({ db: plain, clock, pace: instantPace })({ id, driver: 'simulated', uri })
    const minute = async (): Promise<number> => {
      const elapsed = stopwatch()
      await sampleHost({ db, clock }, driver, new Date(Math.floor(clock.now().getTime() / 60_000) * 60_000), AbortSignal.timeout(600_000))
      clock.advance('60s')
      return elapsed()
    }
    await minute()
    const before = statements()
    const times = [await minute(), await minute(), await minute()]
    expect(statements() - before).toBeLessThanOrEqual(3)

    const stored = await plain.one(sql`
      select count(*)::int as rows, sum(length(points) + length(waits))::int as bytes, (select count(*)::int from metrics_slots) as vms from metrics_minutes`)
    expect(stored).toEqual({ rows: 4, bytes: 4 * (28 + 12) * count, vms: count })

    clock.advance('15m')
    const beforeRollUp = statements()
    await rollUp({ db, clock })
    expect(statements() - beforeRollUp).toBeLessThanOrEqual(20 + Math.ceil(count / 1000))
    expect(
      await plain.one(
        sql`select count(*)::int, sum(rate_samples)::int as samples, max(network_in_rate_max)::int as fastest from metrics_15m`,
      ),
    ).toEqual({ count, samples: 3 * count, fastest: 8000 })
    console.log(`${count} VMs: a minute of metrics takes ${Math.min(...times).toFixed(0)} ms`)
  } finally {
    await plain.close()
  }
}
