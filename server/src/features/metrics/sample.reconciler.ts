// Samples the VMs of every host once a minute. It runs more often, so that no minute is missed; a claim per host and minute in the
// database lets any number of workers call a host once.
import type { Driver, MetricsSample } from '../../hypervisor/driver.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost } from '../hosts/service.ts'
import { ensurePart, MINUTES } from './partitions.ts'
import * as sql from './sql.ts'

const BATCH = 1000
const TIMEOUT_MS = 45_000

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

export async function sampleHost({ db, clock }: SampleDeps, driver: Driver, minute: Date, signal: AbortSignal): Promise<void> {
  await ensurePart(db, MINUTES, minute)
  let batch: MetricsSample[] = []
  let at = clock.now()
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await sql.storeSamples(db, driver.hostId, minute, at, batch)
    batch = []
  }
  for await (const sample of driver.metrics('all', signal)) {
    if (batch.length === 0) at = clock.now()
    batch.push(sample)
    if (batch.length === BATCH) await flush()
  }
  await flush()
}
