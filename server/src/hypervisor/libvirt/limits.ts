// How fast an interface may be. Kernels without the traffic control modules cannot limit it at all; whether one can is tried on a
// network of no consequence, because half a limit would be left on the interface.
import { randomBytes } from 'node:crypto'
import { LibvirtError, Param, type Domain, type Host, type Named } from '@berth/libvirt'
import { DriverError, type Networking } from '../driver.ts'
import { orMissing } from './errors.ts'
import { readInterface, toKiBPerSecond } from './interface-xml.ts'
import { getMachine } from './machine-state.ts'
import { PROBE_PREFIX } from './names.ts'
import type { Session } from './session.ts'
import { sidesOf } from './sides.ts'
import { element } from './xml.ts'

export function limitVerbs(session: Session): Pick<Networking, 'ensureLimit'> {
  return {
    ensureLimit: (vmId, mac, limitMbps, signal) =>
      session.alone(`vm:${vmId}`, signal, async () =>
        applyLimit(session, await getMachine(session, vmId, signal), { mac, limitMbps }, signal),
      ),
  }
}

/** In the definition, and in the machine while it is on. */
export async function applyLimit(
  session: Session,
  machine: { domain: Domain; isOn: boolean },
  { mac, limitMbps }: { mac: string; limitMbps: number | null },
  signal: AbortSignal,
): Promise<{ limited: boolean }> {
  const sides = await sidesOf(session, machine, mac, signal)
  const nics = [sides.definition, sides.live].filter((nic) => nic !== undefined)
  if (nics.length === 0) throw new DriverError('not_found', `${machine.domain.name} on host ${session.hostId} has no interface ${mac}`)
  const wanted = limitMbps !== null && (await canLimit(session, signal)) ? limitMbps : null
  if (nics.some((nic) => readInterface(nic).limitMbps !== wanted)) await setLimit(session, machine, mac, wanted, signal)
  return { limited: wanted !== null }
}

async function setLimit(
  session: Session,
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
  await session.call(`limit ${mac} of ${domain.name}`, signal, (host) =>
    set(host, limitMbps === null ? 0 : toKiBPerSecond(limitMbps)).catch(async (error: unknown) => {
      // One direction may be limited by now, and nobody would know.
      if (!(error instanceof LibvirtError && error.outcome === 'not sent')) await set(session.host, 0).catch(() => undefined)
      throw error
    }),
  )
}

const known = new WeakMap<Session, boolean>()

/** Asked of the host once, and again when it is back, maybe with another kernel. */
export async function canLimit(session: Session, signal: AbortSignal): Promise<boolean> {
  return session.alone('can-limit', signal, async () => {
    const before = known.get(session)
    if (before !== undefined) return before
    const answer = await tryLimit(session, signal)
    known.set(session, answer)
    const stop = session.onBack(() => {
      known.delete(session)
      stop()
    })
    return answer
  })
}

const TRAFFIC_CONTROL_FAILED = /Child process \(\S*tc /

const tryLimit = ({ call, log, hostId }: Session, signal: AbortSignal): Promise<boolean> =>
  call('try to limit an interface', signal, async (host) => {
    const network = await host.networks.define({ xml: probeXml() })
    try {
      await host.networks.create({ network })
      return true
    } catch (error) {
      if (!TRAFFIC_CONTROL_FAILED.test(String(error))) throw error
      log.info({ hostId, said: String(error) }, 'the kernel of this host cannot limit the speed of an interface')
      return false
    } finally {
      await removeProbe(host, network)
    }
  })

async function removeProbe(host: Host, network: Named): Promise<void> {
  await host.networks.destroy({ network }).catch(() => undefined) // it did not start where the answer is no
  await orMissing(host.networks.undefine({ network }))
}

function probeXml(): string {
  const suffix = randomBytes(4).toString('hex')
  const limits = element('bandwidth', {}, element('inbound', { average: 1000 }), element('outbound', { average: 1000 }))
  const bridge = element('bridge', { name: `bnp${suffix}`, stp: 'off', delay: 0 })
  return element('network', {}, element('name', {}, `${PROBE_PREFIX}${suffix}`), bridge, limits).xml
}
