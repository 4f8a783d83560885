// How fast an interface may be. Kernels without the traffic control modules cannot limit it at all; whether one can is tried on a
// network of no consequence, because half a limit would be left on the interface.
import { randomBytes } from 'node:crypto'
import { LibvirtError, Param, RefusedError, type Domain, type Host } from '@berth/libvirt'
import { DriverError, type Networking } from '../../driver.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import { readInterface, toKiBPerSecond } from '../xml/interface-xml.ts'
import { getMachine } from '../domain/lookup.ts'
import { PROBE_PREFIX } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'
import { findInterfaceXml } from '../domain/lookup.ts'
import { uuidOf } from '../core/resource-names.ts'
import { pause } from '../core/abortable.ts'
import { element } from '../core/xml.ts'

export function limitMethods(context: HostContext): Pick<Networking, 'ensureLimit'> {
  return {
    ensureLimit: (vmId, mac, limitMbps, signal) =>
      context.exclusive(`vm:${vmId}`, signal, async () =>
        applyLimit(context, await getMachine(context, vmId, signal), { mac, limitMbps }, signal),
      ),
  }
}

/** In the definition, and in the machine while it is on. */
export async function applyLimit(
  context: HostContext,
  machine: { domain: Domain; isOn: boolean },
  { mac, limitMbps }: { mac: string; limitMbps: number | null },
  signal: AbortSignal,
): Promise<{ limited: boolean }> {
  const sides = await findInterfaceXml(context, machine, mac, signal)
  const nics = [sides.definition, sides.live].filter((nic) => nic !== undefined)
  if (nics.length === 0) throw new DriverError('not_found', `${machine.domain.name} on host ${context.hostId} has no interface ${mac}`)
  const wanted = limitMbps !== null && (await canShapeTraffic(context, signal)) ? limitMbps : null
  if (nics.some((nic) => readInterface(nic).limitMbps !== wanted)) await setLimit(context, machine, mac, wanted, signal)
  return { limited: wanted !== null }
}

async function setLimit(
  context: HostContext,
  { domain, isOn }: { domain: Domain; isOn: boolean },
  mac: string,
  limitMbps: number | null,
  signal: AbortSignal,
): Promise<void> {
  const set = (host: Host, kibPerSecond: number): Promise<void> => {
    const value = Param.uint(kibPerSecond)
    const parameters = { 'inbound.average': value, 'outbound.average': value }
    return host.domains.setInterfaceParameters({ domain, device: mac, parameters, flags: isOn ? ['live', 'config'] : ['config'] })
  }
  await context.call(`limit ${mac} of ${domain.name}`, signal, (host) =>
    set(host, limitMbps === null ? 0 : toKiBPerSecond(limitMbps)).catch(async (error: unknown) => {
      // One direction may be limited by now, and nobody would know.
      if (!(error instanceof LibvirtError && error.outcome === 'not sent')) await set(context.host, 0).catch(() => undefined)
      throw error
    }),
  )
}

const known = new WeakMap<HostContext, boolean>()

/** Asked of the host once, and again when it is back, maybe with another kernel. */
export async function canShapeTraffic(context: HostContext, signal: AbortSignal): Promise<boolean> {
  return context.exclusive('can-limit', signal, async () => {
    const before = known.get(context)
    if (before !== undefined) return before
    const answer = await tryLimit(context, signal)
    known.set(context, answer)
    const stop = context.onReconnect(() => {
      known.delete(context)
      stop()
    })
    return answer
  })
}

const POLL_INTERVAL_MS = 200

/** There is one probe on a host: another process waits until it is gone. */
async function tryLimit(context: HostContext, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const answer = await context.call('try to limit an interface', signal, (host) => probe(context, host))
    if (answer !== undefined) return answer
    await context.call('wait for another probe', signal, () => pause(POLL_INTERVAL_MS, signal))
  }
}

const TRAFFIC_CONTROL_FAILED = /Child process \(\S*tc /
const IS_TAKEN = /already active/

/** Undefined while another process is at it, or has just removed it. Once it has started the answer is known, whoever removes it then. */
async function probe({ host: always, log, hostId }: HostContext, host: Host): Promise<boolean | undefined> {
  await removeProbes(host)
  try {
    const network = await host.networks.define({ xml: probeXml() })
    return await undefinedIfNotFound(host.networks.create({ network }).then(() => true))
  } catch (error) {
    if (IS_TAKEN.test(String(error))) return undefined
    if (!TRAFFIC_CONTROL_FAILED.test(String(error))) throw error
    log.info({ hostId, said: String(error) }, 'the kernel of this host cannot limit the speed of an interface')
    return false
  } finally {
    await removeProbes(always)
  }
}

/** Also what a process left that did not live to remove it. */
async function removeProbes(host: Host): Promise<void> {
  for (const network of await host.networks.listAll()) {
    if (!network.name.startsWith(PROBE_PREFIX)) continue
    await host.networks.destroy({ network }).catch(unlessRefused)
    await host.networks.undefine({ network }).catch(unlessRefused)
  }
}

/** It is not on, or another process removes it as well. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof RefusedError)) throw error
}

const NAME = `${PROBE_PREFIX}limits`

/** A daemon that is killed at the wrong moment leaves its bridge, which must not be in the way of the next. */
function probeXml(): string {
  const limits = element('bandwidth', {}, element('inbound', { average: 1000 }), element('outbound', { average: 1000 }))
  const bridge = element('bridge', { name: `bnp${randomBytes(4).toString('hex')}`, stp: 'off', delay: 0 })
  return element('network', {}, element('name', {}, NAME), element('uuid', {}, uuidOf(NAME)), bridge, limits).xml
}
