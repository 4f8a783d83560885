// Packet filters: one per VM, and one that all private interfaces share.
import type { Networking } from '../../driver.ts'
import { filterXml, privateFilterXml } from '../xml/filter-xml.ts'
import { vmIdOfFilter } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'

/** The daemon changes one filter at a time, for seconds per bound interface; queueing here keeps its worker threads free. */
const QUEUE = 'filters'

const define = (context: HostContext, what: string, xml: string, signal: AbortSignal): Promise<unknown> =>
  context.exclusive(QUEUE, signal, () => context.call(what, signal, (host) => host.filters.define({ xml })))

export function filterMethods(context: HostContext): Pick<Networking, 'ensureFilter'> {
  return {
    // libvirt ignores a definition that equals the present one.
    ensureFilter: async (vmId, filter, signal) => {
      await define(context, `set the filter of ${vmId}`, filterXml(vmId, filter), signal)
    },
  }
}

export async function ensurePrivateFilter(context: HostContext, signal: AbortSignal): Promise<void> {
  await define(context, 'set the filter of private interfaces', privateFilterXml(), signal)
}

export async function* listFilters({ call }: HostContext, signal: AbortSignal): AsyncGenerator<{ vmId: string }> {
  for (const { name } of await call('list filters', signal, (host) => host.filters.listAll())) {
    const vmId = vmIdOfFilter(name)
    if (vmId) yield { vmId }
  }
}
