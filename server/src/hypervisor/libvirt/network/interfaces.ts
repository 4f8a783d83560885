// Attaches interfaces to domains and detaches them, running or not.
import { ErrorCode, hasCode, type Domain } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import { DriverError, NIC_RELEASE_TIMEOUT_MS, type Interfaces, type NicSpec } from '../../driver.ts'
import { changeFloatingAddress, configureGuestAddress, configureGuestRoutes } from './guest-addresses.ts'
import { interfaceXml, macOf } from '../xml/interface-xml.ts'
import { canOffload } from '../host/offload-probe.ts'
import { findMachine, getMachine, getRunning, type MachineState } from '../domain/lookup.ts'
import type { HostContext } from '../core/host-context.ts'
import { findInterfaceXml } from '../domain/lookup.ts'
import { hasText, remoteErrorOf } from '../core/errors.ts'
import { pollUntilTrue } from '../core/poll.ts'
import { element, type Element } from '../core/xml.ts'

export function interfaceMethods(context: HostContext): Interfaces {
  return {
    ensureInterface: (vmId, nic, signal) =>
      context.exclusive(`vm:${vmId}`, signal, async () => {
        const machine = await getMachine(context, vmId, signal)
        await attach(context, vmId, machine, nic, signal)
        if (!nic.ipv4 || !machine.isOn || !machine.metadata.hasAgent) return
        const address = `${nic.ipv4.address}/${nic.ipv4.prefix}`
        await configureGuestAddress(context, machine.domain, { mac: nic.mac, address }, signal)
      }),

    ensureNoInterface: (vmId, mac, signal) =>
      context.exclusive(`vm:${vmId}`, signal, async () => {
        const machine = await findMachine(context, vmId, signal)
        if (!machine) return
        const { definition, live } = await findInterfaceXml(context, machine, mac, signal)
        if (definition) await detach(context, machine.domain, definition, 'config', signal)
        if (live) await detachLive(context, machine, mac, signal)
      }),

    ensureGuestAddress: async (vmId, address, signal) =>
      changeFloatingAddress(context, (await withAgent(context, vmId, signal)).domain, address, 'add', signal),
    ensureNoGuestAddress: async (vmId, address, signal) =>
      changeFloatingAddress(context, (await withAgent(context, vmId, signal)).domain, address, 'remove', signal),
    ensureGuestRoutes: async (vmId, routes, signal) =>
      configureGuestRoutes(context, await withAgent(context, vmId, signal), routes, signal),
  }
}

async function withAgent(context: HostContext, vmId: string, signal: AbortSignal): Promise<MachineState> {
  const machine = await getRunning(context, vmId, signal)
  if (!machine.metadata.hasAgent) throw new DriverError('unsupported', `The image of ${vmId} has no agent`)
  return machine
}

async function attach(context: HostContext, vmId: string, machine: MachineState, nic: NicSpec, signal: AbortSignal): Promise<void> {
  const { definition, live } = await findInterfaceXml(context, machine, nic.mac, signal)
  const { domain, isOn } = machine
  const flags = [...(isOn && !live ? (['live'] as const) : []), ...(definition ? [] : (['config'] as const))]
  if (flags.length === 0) return
  const { xml } = interfaceXml(nic, await canOffload(context, signal))
  await context.call(`attach ${nic.mac} to ${vmId}`, signal, (host) => host.domains.attachDevice({ domain, xml, flags }))
}

/** libvirt matches by MAC, but requires the source as well. */
async function detach({ call }: HostContext, domain: Domain, nic: Element, side: 'live' | 'config', signal: AbortSignal): Promise<void> {
  const address = macOf(nic)
  const source = element('source', { bridge: nic.attribute('source/bridge') })
  const { xml } = element('interface', { type: 'bridge' }, element('mac', { address }), source)
  await call(`detach ${address} from ${domain.name}`, signal, (host) => host.domains.detachDevice({ domain, xml, flags: [side] }))
}

/** A second request within the five seconds that a PCI Express slot blinks after the first would cancel it. */
export const RETRY_INTERVAL_MS = 15_000

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
export function ignoreIfPending(error: unknown): void {
  const isGone = hasCode(remoteErrorOf(error), ErrorCode.operationInvalid, ErrorCode.deviceMissing)
  if (!isGone && !hasText(error, 'unplugPending')) throw error
}
