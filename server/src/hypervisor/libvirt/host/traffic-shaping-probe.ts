// Whether the host's kernel can shape traffic. It is tried on a network without guests, because a kernel that lacks a tc module would leave
// an interface with a limit in one direction only.
import { randomBytes } from 'node:crypto'
import { RemoteError, type Host } from '@berth/libvirt'
import { hasText, isNameTaken, undefinedIfNotFound } from '../core/errors.ts'
import type { HostContext } from '../core/host-context.ts'
import { pollUntil } from '../core/poll.ts'
import { PROBE_PREFIX, uuidOf } from '../core/resource-names.ts'
import { element } from '../core/xml.ts'

/** Probed once per connection to the host. */
export const canShapeTraffic = (context: HostContext, signal: AbortSignal): Promise<boolean> =>
  context.exclusive('can-shape-traffic', signal, async () => (context.cache.canShapeTraffic ??= await probeOnce(context, signal)))

/** A host has one probe network: another process waits until it is gone. */
const probeOnce = (context: HostContext, signal: AbortSignal): Promise<boolean> =>
  pollUntil(context, 'wait for the traffic shaping probe', signal, () =>
    context.call('probe traffic shaping', signal, (host) => probe(context, host)),
  )

/** Undefined while another process uses the probe network, or has just removed it. A network that started is an answer, whoever removes it. */
async function probe({ host: always, log, hostId }: HostContext, host: Host): Promise<boolean | undefined> {
  await removeProbes(host)
  try {
    const network = await host.networks.define({ xml: probeXml() })
    return await undefinedIfNotFound(host.networks.create({ network }).then(() => true))
  } catch (error) {
    if (isNameTaken(error)) return undefined
    if (!hasText(error, 'trafficControlFailed')) throw error
    log.info({ hostId, reason: (error as Error).message }, 'traffic shaping probe failed: host kernel lacks tc modules')
    return false
  } finally {
    await removeProbes(always)
  }
}

/** Also a network that a killed process left. */
async function removeProbes(host: Host): Promise<void> {
  for (const network of await host.networks.listAll()) {
    if (!network.name.startsWith(PROBE_PREFIX)) continue
    await host.networks.destroy({ network }).catch(ignoreRemoteError)
    await host.networks.undefine({ network }).catch(ignoreRemoteError)
  }
}

/** It is inactive, or another process removes it at the same time. */
function ignoreRemoteError(error: unknown): void {
  if (!(error instanceof RemoteError)) throw error
}

const NAME = `${PROBE_PREFIX}limits`

/** A daemon killed while it starts the network leaves the bridge behind: a random bridge name keeps the next probe clear of it. */
function probeXml(): string {
  const limits = element('bandwidth', {}, element('inbound', { average: 1000 }), element('outbound', { average: 1000 }))
  const bridge = element('bridge', { name: `bnp${randomBytes(4).toString('hex')}`, stp: 'off', delay: 0 })
  return element('network', {}, element('name', {}, NAME), element('uuid', {}, uuidOf(NAME)), bridge, limits).xml
}
