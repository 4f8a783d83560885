// Hears what hosts say by themselves. An event is only a hint, which counts as the first of the two looks that the power sweep takes.
import type { DriverEvent } from '../../hypervisor/driver.ts'
import { reconciler, type Deps } from '../deps.ts'
import { askHost, listHosts } from '../hosts/service.ts'
import { noteHint } from './power.reconciler.ts'

const heard = new WeakMap<Deps, Set<string>>()

/** Subscribes to hosts that were added, or could not be reached the last time. The pool ends subscriptions when it closes. */
export const powerHints = reconciler('vms.hints', '30s', async (deps, stopping = new AbortController().signal) => {
  const hosts = heard.get(deps) ?? new Set<string>()
  heard.set(deps, hosts)
  const unheard = (await listHosts(deps.db)).filter(({ id }) => !hosts.has(id))
  const hear = async (hostId: string): Promise<void> => {
    const error = await askHost(deps, hostId, stopping, (driver, signal) => driver.subscribe((event) => void note(deps, event), signal))
    if (!error) hosts.add(hostId)
  }
  await Promise.all(unheard.map(({ id }) => hear(id)))
})

async function note(deps: Deps, event: DriverEvent): Promise<void> {
  if (event.type !== 'started' && event.type !== 'stopped') return
  const power = event.type === 'started' ? 'running' : 'stopped'
  await noteHint(deps.db, deps.clock.now(), event.vmId, power).catch((error: unknown) =>
    deps.log.warn({ err: error, event }, 'hint not noted'),
  )
}
