// Adds what has gone through public interfaces to what their VMs have used. Several processes may count at once, and a VM about to be
// stopped is counted on its own: what one has counted, another must not. A number is taken from a sequence before a host is asked, and
// another one when the answer is written down. A sample counts only if the last one was written down before this one was asked for; it
// is newer then, so a counter that went back has really begun again. Whoever is refused loses nothing: the next time counts it.
import type { Driver, NicCounters } from '../../hypervisor/driver.ts'
import type { Deps } from '../deps.ts'
import { recordVmEvent } from '../vms/service.ts'
import { enqueueLimitUpdates } from './limit-queue.ts'
import * as sql from './sql.ts'

const BATCH = 1000
const MAX_ATTEMPTS = 3

type CountDeps = Pick<Deps, 'db' | 'clock' | 'hooks'>

/** Answers how many samples came too late to count. */
export async function meterTraffic(deps: CountDeps, driver: Driver, vmIds: string[] | 'all', signal: AbortSignal): Promise<number> {
  const tick = await sql.nextTick(deps.db)
  let stale = 0
  let batch: NicCounters[] = []
  const flush = async (): Promise<void> => {
    if (batch.length > 0) stale += await countBatch(deps, driver.hostId, tick, batch)
    batch = []
  }
  for await (const sample of driver.counters(vmIds, signal)) {
    batch.push(sample)
    if (batch.length === BATCH) await flush()
  }
  await flush()
  return stale
}

const countBatch = (deps: CountDeps, hostId: string, tick: bigint, samples: NicCounters[]): Promise<number> =>
  deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    await sql.lockVms(
      tx,
      samples.map((each) => each.vmId),
    )
    const { stale, throttled } = await sql.countSamples(tx, now, hostId, tick, samples)
    await enqueueLimitUpdates(tx, now, throttled)
    for (const vmId of throttled)
      await recordVmEvent(tx, deps, vmId, 'bandwidth.throttled', { reason: 'The traffic of this period is used up' })
    return stale
  })

/** With the power go the counters. */
export async function meterBeforePowerOff(deps: CountDeps, vmId: string, driver: Driver, signal: AbortSignal): Promise<void> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(10_000)])
  for (let tries = 1; tries <= MAX_ATTEMPTS; tries++) {
    if ((await meterTraffic(deps, driver, [vmId], patience)) === 0) return
  }
}
