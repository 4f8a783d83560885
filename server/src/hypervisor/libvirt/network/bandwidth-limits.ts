// Bandwidth limits of interfaces.
import { LibvirtError, Param, type Domain, type Host } from '@berth/libvirt'
import { DriverError, type Networking } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'
import { findInterfaceXml, getMachine } from '../domain/lookup.ts'
import { canShapeTraffic } from '../host/traffic-shaping-probe.ts'
import { readInterface, toKiBPerSecond } from '../xml/interface-xml.ts'

export function limitMethods(context: HostContext): Pick<Networking, 'ensureLimit'> {
  return {
    ensureLimit: (vmId, mac, limitMbps, signal) =>
      context.exclusive(`vm:${vmId}`, signal, async () =>
        applyLimit(context, await getMachine(context, vmId, signal), { mac, limitMbps }, signal),
      ),
  }
}

/** In the definition, and live while the domain is on. */
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
      // One direction may be limited by now: clear both.
      if (!(error instanceof LibvirtError && error.outcome === 'not sent')) await set(context.host, 0).catch(() => undefined)
      throw error
    }),
  )
}
