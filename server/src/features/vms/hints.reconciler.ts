// Hears what hosts say by themselves. An event is only a hint, which counts as the first of the two looks that the power sweep takes.
import type { Driver, DriverEvent } from '../../hypervisor/driver.ts'
import { reconciler, type Deps } from '../deps.ts'
import { callHost, listHosts } from '../hosts/service.ts'
import { recordPowerEvent } from './power.reconciler.ts'

/** A host at another address has another driver, which is heard anew; the old one took its subscription with it. */
const subscribedDrivers = new WeakSet<Driver>()

/** Subscribes to hosts that were added, or could not be reached the last time. The pool ends subscriptions when it closes. */
export const subscribeHostEvents = reconciler('vms.hints', '30s', async (deps, stopping = new AbortController().signal) => {
  const hear = async (driver: Driver, signal: AbortSignal): Promise<void> => {
    if (subscribedDrivers.has(driver)) return
    await driver.subscribe((event) => void note(deps, event), signal)
    subscribedDrivers.add(driver)
  }
  await Promise.all((await listHosts(deps.db)).map(({ id }) => callHost(deps, id, stopping, hear)))
})

async function note(deps: Deps, event: DriverEvent): Promise<void> {
  if (event.type !== 'started' && event.type !== 'stopped') return
  const power = event.type === 'started' ? 'running' : 'stopped'
  await recordPowerEvent(deps.db, deps.clock.now(), event.vmId, power).catch((error: unknown) =>
    deps.log.warn({ err: error, event }, 'hint not noted'),
  )
}
