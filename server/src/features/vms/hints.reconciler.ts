// Hears what hosts say by themselves. An event is only a hint, which counts as the first of the two looks that the power sweep takes.
import type { DriverEvent } from '../../hypervisor/driver.ts'
import { reconciler, type Deps } from '../deps.ts'
import { listHosts } from '../hosts/service.ts'
import { noteHint } from './power.reconciler.ts'

const heard = new WeakMap<Deps, Set<string>>()

/** Subscribes to hosts that were added, or could not be reached the last time. The pool ends subscriptions when it closes. */
export const powerHints = reconciler('vms.hints', '30s', async (deps) => {
  const hosts = heard.get(deps) ?? new Set<string>()
  heard.set(deps, hosts)
  for (const { id } of await listHosts(deps.db)) {
    if (hosts.has(id)) continue
    const driver = await deps.hypervisors.get(id)
    await driver.subscribe((event) => void note(deps, event), AbortSignal.timeout(10_000))
    hosts.add(id)
  }
})

async function note(deps: Deps, event: DriverEvent): Promise<void> {
  if (event.type !== 'started' && event.type !== 'stopped') return
  const power = event.type === 'started' ? 'running' : 'stopped'
  await noteHint(deps.db, deps.clock.now(), event.vmId, power).catch((error: unknown) =>
    deps.log.warn({ err: error, event }, 'hint not noted'),
  )
}
