// Packet filters: one per VM, and one that all private interfaces share.
import type { Networking } from '../driver.ts'
import { filterXml, privateFilterXml } from './filter-xml.ts'
import { vmIdOfFilter } from './names.ts'
import type { Session } from './session.ts'

/** The daemon changes one filter at a time and takes seconds for each that is bound; a queue of ours keeps its slots free. */
const QUEUE = 'filters'

const define = (session: Session, what: string, xml: string, signal: AbortSignal): Promise<unknown> =>
  session.alone(QUEUE, signal, () => session.call(what, signal, (host) => host.filters.define({ xml })))

export function filterVerbs(session: Session): Pick<Networking, 'ensureFilter'> {
  return {
    // The same text again is no change to libvirt, and touches nothing.
    ensureFilter: async (vmId, filter, signal) => {
      await define(session, `set the filter of ${vmId}`, filterXml(vmId, filter), signal)
    },
  }
}

export async function ensurePrivateFilter(session: Session, signal: AbortSignal): Promise<void> {
  await define(session, 'set the filter of private interfaces', privateFilterXml(), signal)
}

export async function* listFilters({ call }: Session, signal: AbortSignal): AsyncGenerator<{ vmId: string }> {
  for (const { name } of await call('list filters', signal, (host) => host.filters.listAll())) {
    const vmId = vmIdOfFilter(name)
    if (vmId) yield { vmId }
  }
}
