// Attaches interfaces to domains and detaches them, running or not.
import { ErrorCode, hasCode, type Domain } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import { DriverError, NIC_RELEASE_TIMEOUT_MS, type Networking, type NicSpec } from '../../driver.ts'
import { configureGuestAddress } from './guest-addresses.ts'
import { interfaceXml, macOf, readInterface } from '../xml/interface-xml.ts'
import { ensureLease, ensureNoLease } from './dhcp-leases.ts'
import { canShapeTraffic } from '../host/traffic-shaping-probe.ts'
import { applyLimit } from './bandwidth-limits.ts'
import { findMachine, getMachine, type MachineState } from '../domain/lookup.ts'
import { findNetwork } from './networks.ts'
import type { HostContext } from '../core/host-context.ts'
import { findInterfaceXml } from '../domain/lookup.ts'
import { hasText, remoteErrorOf } from '../core/errors.ts'
import { pollUntilTrue } from '../core/poll.ts'
import { element, type Element } from '../core/xml.ts'

export function interfaceMethods(context: HostContext): Pick<Networking, 'ensureInterface' | 'ensureNoInterface'> {
  return {
    ensureInterface: (vmId, nic, signal) =>
      context.exclusive(`vm:${vmId}`, signal, async () => {
        const machine = await getMachine(context, vmId, signal)
        await requireNetwork(context, nic, signal)
        await ensureLease(context, nic, signal)
        await attach(context, vmId, machine, nic, signal)
        await applyLimit(context, machine, nic, signal)
        if (machine.isOn && machine.metadata.hasAgent) await configureGuestAddress(context, machine.domain, nic, signal)
      }),

    ensureNoInterface: (vmId, mac, signal) =>
      context.exclusive(`vm:${vmId}`, signal, async () => {
        const machine = await findMachine(context, vmId, signal)
        if (!machine) return
        const { definition, live } = await findInterfaceXml(context, machine, mac, signal)
        if (definition) await detach(context, machine.domain, definition, 'config', signal)
        if (live) await detachLive(context, machine, mac, signal)
        const networkId = [live, definition].map((nic) => nic && readInterface(nic).networkId).find((id) => id)
        if (networkId) await ensureNoLease(context, networkId, mac, signal)
      }),
  }
}

async function requireNetwork(context: HostContext, { networkId }: NicSpec, signal: AbortSignal): Promise<void> {
  if (networkId && !(await findNetwork(context, networkId, signal))?.isActive)
    throw new DriverError('not_found', `Host ${context.hostId} has no network ${networkId}`)
}

async function attach(context: HostContext, vmId: string, machine: MachineState, nic: NicSpec, signal: AbortSignal): Promise<void> {
  const { definition, live } = await findInterfaceXml(context, machine, nic.mac, signal)
  const attached = live ?? definition
  if (attached && readInterface(attached).networkId !== nic.networkId)
    throw new DriverError('conflict', `${nic.mac} of ${vmId} is attached to another network`)
  const { domain, isOn } = machine
  const flags = [...(isOn && !live ? (['live'] as const) : []), ...(definition ? [] : (['config'] as const))]
  if (flags.length === 0) return
  const { xml } = interfaceXml(vmId, nic, nic.limitMbps !== null && (await canShapeTraffic(context, signal)))
  await context.call(`attach ${nic.mac} to ${vmId}`, signal, (host) => host.domains.attachDevice({ domain, xml, flags }))
}

/** libvirt matches by MAC, but requires the network as well. */
async function detach({ call }: HostContext, domain: Domain, nic: Element, side: 'live' | 'config', signal: AbortSignal): Promise<void> {
  const address = macOf(nic)
  const source = element('source', { network: nic.attribute('source/network') })
  const { xml } = element('interface', { type: 'network' }, element('mac', { address }), source)
  await call(`detach ${address} from ${domain.name}`, signal, (host) => host.domains.detachDevice({ domain, xml, flags: [side] }))
}

/** A second request within the five seconds that a PCI Express slot blinks after the first would cancel it. */
const RETRY_INTERVAL_MS = 15_000

/** A running guest must release the device. One that is still booting misses the request, so it is repeated. */
async function detachLive(context: HostContext, machine: MachineState, mac: string, signal: AbortSignal): Promise<void> {
  const { domain } = machine
  let sinceRequestMs = (): number => Infinity
  const isDetached = async (): Promise<boolean> => {
    const { live } = await findInterfaceXml(context, machine, mac, signal)
    if (live && sinceRequestMs() > RETRY_INTERVAL_MS) {
      await detach(context, domain, live, 'live', signal).catch(ignoreIfPending)
      sinceRequestMs = stopwatch()
    }
    return !live
  }
  const what = `detach ${mac} from ${domain.name}`
  if (await pollUntilTrue(context, what, signal, isDetached, { timeoutMs: NIC_RELEASE_TIMEOUT_MS })) return
  throw new DriverError('transient', `The guest of ${domain.name} did not release ${mac}`, {
    userMessage: 'Guest did not release the network interface. Restart the VM and retry.',
  })
}

/** The domain went off, the device is gone, or an earlier request is pending: the next poll shows which. */
function ignoreIfPending(error: unknown): void {
  const isGone = hasCode(remoteErrorOf(error), ErrorCode.operationInvalid, ErrorCode.deviceMissing)
  if (!isGone && !hasText(error, 'unplugPending')) throw error
}
