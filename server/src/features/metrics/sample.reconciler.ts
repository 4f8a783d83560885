// Samples the VMs of every host once a minute. It runs more often, so that no minute is missed; a claim per host and minute in the
// database lets any number of workers call a host once.
import type { Driver } from '../../hypervisor/driver.ts'
import type { Db } from '../../kernel/database/db.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost } from '../hosts/service.ts'
import { ensurePart, MINUTES } from './partitions.ts'
import { bytesOf, countersFrom, measure, type Sampled } from './points.ts'
import { slotsOf } from './slots.ts'
import * as sql from './sql.ts'

const TIMEOUT_MS = 45_000
/** Within it nobody else has sampled that host: minutes are claimed. */
const OWN_MS = 75_000

type SampleDeps = Pick<Deps, 'db' | 'clock'>

/** Keyed by host: a slow host does not delay the others. */
export const sampleMetrics = keyedReconciler('metrics.sample', '15s', {
  busy: async ({ db, clock }) => (await sql.unsampledHosts(db, minuteOf(clock.now()))).map(({ id }) => id),
  runOnce: async (deps, hostId, stopping) => {
    const minute = minuteOf(deps.clock.now())
    if (!(await sql.claimMinute(deps.db, hostId, minute))) return
    await callHost(deps, hostId, stopping, (driver, signal) => sampleHost(deps, driver, minute, signal), TIMEOUT_MS)
  },
})

const minuteOf = (time: Date): Date => new Date(Math.floor(time.getTime() / 60_000) * 60_000)

/** What this process stored last, so that it need not be read. */
const stored = new WeakMap<Driver, Sampled>()

export async function sampleHost({ db, clock }: SampleDeps, driver: Driver, minute: Date, signal: AbortSignal): Promise<void> {
  const { hostId } = driver
  await ensurePart(db, MINUTES, minute)
  const last = await lastSampled(db, driver, clock.now())
  const at = clock.now()
  const samples = await Array.fromAsync(driver.metrics('all', signal))
  const ids = samples.map(({ vmId }) => vmId)
  const { points, waits, counters, waitCounters } = measure(samples, await slotsOf(db, driver, minute, ids), at, last)
  if (points.length > 0)
    await sql.storeMinute(db, hostId, minute, at, {
      points: bytesOf(points),
      waits: bytesOf(waits),
      counters: bytesOf(counters),
      waitCounters: bytesOf(waitCounters),
    })
  stored.set(driver, { at, counters, waits: waitCounters })
}

/** Another worker has sampled in between where this one's own is not of the last minute. */
async function lastSampled(db: Db, driver: Driver, now: Date): Promise<Sampled | null> {
  const own = stored.get(driver)
  if (own && now.getTime() - own.at.getTime() < OWN_MS) return own
  const row = await sql.findCounters(db, driver.hostId)
  return row ? { at: row.sampled_at, counters: countersFrom(row.counters), waits: row.waits && countersFrom(row.waits) } : null
}
