// Grows machines that run: vCPUs are plugged by their number, memory as one DIMM for each growth. The live domain first, then its definition to the same size: what
// a killed process has left out is found by comparing both with the spec.
import type { Domain } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import { DriverError, GUEST_TAKES_MS, isDriverError, type LiveSize, type Machines, type MachineSpec } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'
import { pollUntilTrue } from '../core/poll.ts'
import type { Element } from '../core/xml.ts'
import { awaitUse } from '../domain/guest-size.ts'
import { findMachine, type MachineState, readDefinition, readDomain } from '../domain/lookup.ts'
import { ignoreIfPending, RETRY_INTERVAL_MS } from '../network/interfaces.ts'
import { cpuSetOf } from '../xml/cpu-xml.ts'
import { type Dimm, dimmsOf, dimmXml, freePlace, roomOf, sizeOf } from '../xml/size-xml.ts'
import { pinLive } from './definition.ts'

export const liveSizeMethods = (context: HostContext): Pick<Machines, 'ensureLiveSize'> => ({
  ensureLiveSize: (spec, signal) =>
    context.exclusive(`vm:${spec.vmId}`, signal, async () => {
      const found = await findMachine(context, spec.vmId, signal)
      return found?.isOn ? ensureLiveSize(context, found, spec, signal) : { vcpu: spec.vcpu, ramMiB: spec.ramMiB, guestReason: null }
    }),
})

type Side = 'live' | 'config'

async function ensureLiveSize(context: HostContext, found: MachineState, spec: MachineSpec, signal: AbortSignal): Promise<LiveSize> {
  const { domain, metadata } = found
  const before = sizeOf(found.xml)
  requireRoom(found, spec)
  await setRam(context, domain, 'live', spec.ramMiB, signal)
  await setVcpus(context, domain, spec, signal)
  const xml = await readSide(context, domain, 'live', signal)
  const has = sizeOf(xml)
  await setRam(context, domain, 'config', has.ramMiB, signal)
  const definition = await readSide(context, domain, 'config', signal)
  if (sizeOf(definition).vcpu !== has.vcpu) await plugVcpus(context, domain, 'config', has.vcpu, signal)
  // Also those that stay: QEMU's other threads may run where the removed ones did.
  if (has.vcpu <= spec.vcpu && (spec.cpus ?? cpuSetOf(xml)) !== null) await pinLive(context, { domain, xml }, spec.cpus, signal)
  const isSmaller = spec.vcpu < before.vcpu || spec.ramMiB < before.ramMiB
  if (isSmaller) return { ...has, guestReason: null }
  if (!metadata.hasAgent) return { ...has, guestReason: 'its image has no guest agent' }
  const use = { has, hasDimms: dimmsOf(xml).length > 0, timeoutMs: GUEST_TAKES_MS }
  return { ...has, guestReason: await awaitUse(context, domain, use, signal) }
}

function requireRoom({ domain, xml }: MachineState, { vcpu, ramMiB }: MachineSpec): void {
  const room = roomOf(xml)
  if (vcpu <= room.vcpu && ramMiB <= room.ramMiB) return
  throw new DriverError(
    'invalid_state',
    `${domain.name} has room for ${room.vcpu} vCPU and ${room.ramMiB} MiB, less than ${vcpu} and ${ramMiB}`,
    {
      userMessage: 'The VM cannot grow as much while it runs: stop it, and resize it then.',
    },
  )
}

/** A domain that has gone off meanwhile has its definition alone. */
async function readSide(context: HostContext, domain: Domain, side: Side, signal: AbortSignal): Promise<Element> {
  const xml = await (side === 'live' ? readDomain : readDefinition)(context, domain, signal)
  if (!xml) throw new DriverError('not_found', `Host ${context.hostId} has no ${domain.name} any more`)
  return xml
}

async function setRam(context: HostContext, domain: Domain, side: Side, wantedMiB: number, signal: AbortSignal): Promise<void> {
  const xml = await readSide(context, domain, side, signal)
  const missing = wantedMiB - sizeOf(xml).ramMiB
  if (missing > 0) await addDimm(context, domain, side, { ramMiB: missing, place: freePlace(dimmsOf(xml)), wantedMiB }, signal)
  if (missing < 0) await removeDimms(context, domain, side, wantedMiB, signal)
}

async function addDimm(
  context: HostContext,
  domain: Domain,
  side: Side,
  { ramMiB, place, wantedMiB }: { ramMiB: number; place: number; wantedMiB: number },
  signal: AbortSignal,
): Promise<void> {
  const { xml } = dimmXml(ramMiB, place)
  const added = context.call(`add ${ramMiB} MiB to ${domain.name}`, signal, (host) =>
    host.domains.attachDevice({ domain, xml, flags: [side] }),
  )
  await added.catch(async (error: unknown) => {
    // Another process has added it: its name is taken.
    if (signal.aborted || sizeOf(await readSide(context, domain, side, signal)).ramMiB !== wantedMiB) throw error
  })
}

/** A guest need not release memory. */
async function removeDimms(context: HostContext, domain: Domain, side: Side, wantedMiB: number, signal: AbortSignal): Promise<void> {
  const what = `remove memory of ${domain.name}`
  let sinceRequestMs = (): number => Infinity
  const isRemoved = async (): Promise<boolean> => {
    const dimm = surplusOf(await readSide(context, domain, side, signal), wantedMiB)
    if (dimm && sinceRequestMs() > RETRY_INTERVAL_MS) {
      const removed = context.call(what, signal, (host) => host.domains.detachDeviceByAlias({ domain, alias: dimm.alias, flags: [side] }))
      await removed.catch(ignoreIfPending)
      sinceRequestMs = side === 'live' ? stopwatch() : () => Infinity
    }
    return !dimm
  }
  await pollUntilTrue(context, what, signal, isRemoved, { timeoutMs: GUEST_TAKES_MS })
}

/** The DIMM that was added last, where it is more than wanted. */
function surplusOf(xml: Element, wantedMiB: number): Dimm | undefined {
  const last = dimmsOf(xml).at(-1)
  return last && sizeOf(xml).ramMiB - last.ramMiB >= wantedMiB ? last : undefined
}

const plugVcpus = (context: HostContext, domain: Domain, side: Side, vcpus: number, signal: AbortSignal): Promise<unknown> =>
  context.call(`set vCPUs of ${domain.name}`, signal, (host) => host.domains.setVcpus({ domain, vcpus, flags: [side] }))

const UNPLUG_INTERVAL_MS = 2_000

/** A guest need not release vCPUs, which libvirt says after some seconds. Where they are emulated QEMU never reports that one is gone, so none is removed. */
async function setVcpus(context: HostContext, domain: Domain, { vcpu: wanted }: MachineSpec, signal: AbortSignal): Promise<void> {
  const xml = await readSide(context, domain, 'live', signal)
  const { vcpu } = sizeOf(xml)
  if (wanted > vcpu) await plugVcpus(context, domain, 'live', wanted, signal)
  if (wanted >= vcpu || xml.attributes['type'] !== 'kvm') return
  const isReleased = async (): Promise<boolean> => {
    await plugVcpus(context, domain, 'live', wanted, signal).catch((error: unknown) => {
      if (!isDriverError(error, 'transient', 'invalid_state', 'unsupported')) throw error
    })
    return sizeOf(await readSide(context, domain, 'live', signal)).vcpu <= wanted
  }
  const what = `remove vCPUs of ${domain.name}`
  await pollUntilTrue(context, what, signal, isReleased, { timeoutMs: GUEST_TAKES_MS, intervalMs: UNPLUG_INTERVAL_MS })
}
