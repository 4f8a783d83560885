// Adds the traffic of public interfaces to the usage of their VMs. Several processes may meter at once, and a VM is metered separately
// before a power off; no byte may be counted twice. A tick is drawn from a sequence before the host is read, and another one when the
// sample is stored. A sample is accepted only if the previous one was stored before this one's read began. It is then newer, so a lower
// counter is a real reset. A rejected sample loses nothing: the next one contains its traffic.
import type { Driver, NicCounters } from '../../hypervisor/driver.ts'
import type { Deps } from '../deps.ts'
import { markPortsDirty } from '../ports/service.ts'
import { recordVmEvent } from '../vms/service.ts'
import * as sql from './sql.ts'

const BATCH = 1000
const MAX_ATTEMPTS = 3

export type CountDeps = Pick<Deps, 'db' | 'clock' | 'hooks'>

/** Returns the number of stale samples, which were not counted. */
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
    await markPortsDirty(tx, throttled)
    for (const vmId of throttled)
      await recordVmEvent(tx, deps, vmId, 'bandwidth.throttled', { reason: 'The traffic of this period is used up' })
    return stale
  })

/** Counts, without asking the host again, what a reading that drew `tick` saw. */
export async function countRead(deps: CountDeps, hostId: string, tick: bigint, samples: NicCounters[]): Promise<void> {
  for (let i = 0; i < samples.length; i += BATCH) await countBatch(deps, hostId, tick, samples.slice(i, i + BATCH))
}

/** A power off resets the counters, so the last traffic is metered before. */
export async function meterBeforePowerOff(deps: CountDeps, vmId: string, driver: Driver, signal: AbortSignal): Promise<void> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(10_000)])
  for (let tries = 1; tries <= MAX_ATTEMPTS; tries++) {
    if ((await meterTraffic(deps, driver, [vmId], patience)) === 0) return
  }
}
