// Attaches volumes of customers to domains and detaches them, running or not.
import type { Domain } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import { DriverError, GIB, VOLUME_RELEASE_TIMEOUT_MS, type VolumeRef, type Volumes, type VolumeSpec } from '../../driver.ts'
import { volumeSnapshotMethods } from '../copies/volume-snapshots.ts'
import { hasText } from '../core/errors.ts'
import type { HostContext } from '../core/host-context.ts'
import { pollUntilTrue } from '../core/poll.ts'
import { element, type Element } from '../core/xml.ts'
import { findMachine, getMachine, readDefinition, readDomain, type MachineState } from '../domain/lookup.ts'
import { ignoreIfPending, RETRY_INTERVAL_MS } from '../network/interfaces.ts'
import { getPool } from '../storage/backends.ts'
import { ensureNoVolume, ensureVolume, getVolumeFile, openVolume, requireUnused } from '../storage/customer-volumes.ts'
import { growDisk, growTo } from '../storage/resize.ts'
import { freeTarget, limitsByDisk, volumeDiskXml, volumesOf } from '../xml/domain-xml.ts'

export const volumeMethods = (context: HostContext): Volumes => ({
  ...volumeSnapshotMethods(context),

  ensureVolume: (volume, source, signal) =>
    context.exclusive(`volume:${volume.volumeId}`, signal, () => ensureVolume(context, volume, source, signal)),
  ensureNoVolume: (volume, signal) => context.exclusive(`volume:${volume.volumeId}`, signal, () => ensureNoVolume(context, volume, signal)),

  ensureVolumeAttached: (vmId, volume, signal) => context.exclusive(`vm:${vmId}`, signal, () => attach(context, vmId, volume, signal)),

  ensureVolumeDetached: (vmId, { volumeId }, signal) =>
    context.exclusive(`vm:${vmId}`, signal, async () => {
      const machine = await findMachine(context, vmId, signal)
      if (!machine) return
      const definition = await readDefinition(context, machine.domain, signal)
      const disk = definition && diskOf(definition, volumeId)
      if (disk) await detach(context, machine.domain, disk, 'config', signal)
      if (machine.isOn) await detachLive(context, machine, volumeId, signal)
    }),

  ensureVolumeSize: (vmId, volume, signal) =>
    context.exclusive(`vm:${vmId}`, signal, async () => {
      const machine = await getMachine(context, vmId, signal)
      const live = machine.isOn ? volumesOf(machine.xml).find(({ id }) => id === volume.volumeId) : undefined
      const bytes = volume.sizeGiB * GIB
      if (live) return { sizeGiB: (await growDisk(context, machine.domain, live.target, bytes, signal)) / GIB }
      return { sizeGiB: (await growUnused(context, volume, bytes, signal)) / GIB }
    }),
})

async function growUnused(context: HostContext, volume: VolumeSpec, bytes: number, signal: AbortSignal): Promise<number> {
  if (volume.storageId !== null) {
    const pool = await getPool(context, volume.storageId)
    await pool.ensureVolume(volume, null, signal)
    return (await pool.findVolume(volume, signal))!.bytes
  }
  return growTo(context, await getVolumeFile(context, volume, signal), bytes, signal)
}

async function attach(context: HostContext, vmId: string, volume: VolumeRef, signal: AbortSignal): Promise<void> {
  const { volumeId, storageId } = volume
  const { domain, isOn, xml: current } = await getMachine(context, vmId, signal)
  const definition = (await readDefinition(context, domain, signal)) ?? current
  const known = volumesOf(definition).find(({ id }) => id === volumeId)
  const live = isOn ? volumesOf(current).find(({ id }) => id === volumeId) : undefined
  const flags = [...(isOn && !live ? (['live'] as const) : []), ...(known ? [] : (['config'] as const))]
  if (flags.length === 0) return
  await requireUnused(context, { volumeId }, vmId, signal)
  // A machine of another host that was killed counts as one that has it open for half a minute more.
  if (storageId !== null && !live && (await (await getPool(context, storageId)).isOpen(volumeId, signal)))
    throw new DriverError('transient', `Volume ${volumeId} is open elsewhere`)
  const target = known?.target ?? live?.target ?? freeTarget(definition, current)
  const limits = limitsByDisk(current).get('vda')!
  const { xml } = volumeDiskXml({ id: volumeId, source: await openVolume(context, volume, signal) }, target, limits)
  const attached = context.call(`attach volume ${volumeId} to ${vmId}`, signal, (host) => host.domains.attachDevice({ domain, xml, flags }))
  await attached.catch((error: unknown) => {
    if (!hasText(error, 'noSlot')) throw error
    throw new DriverError('invalid_state', `${domain.name} has no slot left for volume ${volumeId}`, {
      userMessage: 'The VM has no slot left for one more volume: stop it, start it, and attach the volume then.',
      cause: error,
    })
  })
}

const diskOf = (xml: Element, volumeId: string): Element | undefined => {
  const target = volumesOf(xml).find(({ id }) => id === volumeId)?.target
  return xml.all('devices/disk').find((disk) => target !== undefined && disk.attribute('target/dev') === target)
}

/** libvirt matches by target, but requires the source as well. */
async function detach({ call }: HostContext, domain: Domain, disk: Element, side: 'live' | 'config', signal: AbortSignal): Promise<void> {
  const [dev, file, name] = [disk.attribute('target/dev'), disk.attribute('source/file'), disk.attribute('source/name')]
  const { xml } = element(
    'disk',
    { type: file === undefined ? 'network' : 'file', device: 'disk' },
    file === undefined ? element('source', { protocol: 'rbd', name }) : element('source', { file }),
    element('target', { dev, bus: 'virtio' }),
  )
  await call(`detach ${dev} from ${domain.name}`, signal, (host) => host.domains.detachDevice({ domain, xml, flags: [side] }))
}

/** A running guest must release the device. One that is still booting misses the request, so it is repeated. */
async function detachLive(context: HostContext, { domain }: MachineState, volumeId: string, signal: AbortSignal): Promise<void> {
  let sinceRequestMs = (): number => Infinity
  const isDetached = async (): Promise<boolean> => {
    const xml = await readDomain(context, domain, signal)
    const disk = xml && diskOf(xml, volumeId)
    if (disk && sinceRequestMs() > RETRY_INTERVAL_MS) {
      await detach(context, domain, disk, 'live', signal).catch(ignoreIfPending)
      sinceRequestMs = stopwatch()
    }
    return !disk
  }
  const what = `detach volume ${volumeId} from ${domain.name}`
  if (await pollUntilTrue(context, what, signal, isDetached, { timeoutMs: VOLUME_RELEASE_TIMEOUT_MS })) return
  throw new DriverError('transient', `The guest of ${domain.name} did not release volume ${volumeId}`, {
    userMessage: 'The guest did not release the volume: unmount it there, or stop the VM, and try again.',
  })
}
