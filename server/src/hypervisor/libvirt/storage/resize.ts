// Grows disks, live or offline. Never shrinks them: libvirt would truncate the data.
// QEMU marks the dirty bitmaps of a disk as in use while it has the disk open. A QEMU that dies leaves them marked: inconsistent, useless, and
// blocking, because QEMU resizes no disk with such a bitmap. Only a QEMU that has the disk open can remove them, so an offline disk is opened
// by a paused helper domain.
import type { Domain, Host, Volume } from '@berth/libvirt'
import { type Arch, DriverError, isDriverError } from '../../driver.ts'
import { hasText, undefinedIfNotFound } from '../core/errors.ts'
import type { HostContext } from '../core/host-context.ts'
import { CLEANUP_TIMEOUT_MS } from '../core/poll.ts'
import { seclabelXml } from '../core/guest-user.ts'
import { diskHelperName, readVolumeName } from '../core/resource-names.ts'
import { guestGroup } from '../host/guest-user-probe.ts'
import { diskXml, MACHINE, pausedDomainXml } from '../xml/domain-xml.ts'
import { readDiskFile } from './volumes.ts'

export const capacityOf = ({ call }: HostContext, volume: Volume, signal: AbortSignal): Promise<number> =>
  call(`measure ${volume.name}`, signal, async (host) => Number((await host.volumes.getInfo({ volume })).capacity))

/** Returns the resulting size. */
export async function growTo(context: HostContext, volume: Volume, bytes: number, signal: AbortSignal): Promise<number> {
  const capacity = await capacityOf(context, volume, signal)
  if (capacity >= bytes) return capacity
  await context.call(`grow ${volume.name}`, signal, (host) => host.volumes.resize({ volume, capacity: BigInt(bytes) }))
  return bytes
}

/** For a VM that is off. */
export const growOffline = (context: HostContext, disk: Volume, bytes: number, arch: Arch, signal: AbortSignal): Promise<number> =>
  growTo(context, disk, bytes, signal).catch((error: unknown) => {
    if (!isBlockedByBitmap(error)) throw error
    return withDiskOpen(context, disk, arch, (domain) => growLive(context, domain, bytes, signal), signal).catch(withBitmapMessage)
  })

export const growLive = (context: HostContext, domain: Domain, bytes: number, signal: AbortSignal): Promise<number> =>
  growDisk(context, domain, 'vda', bytes, signal).catch((error: unknown) => {
    if (!isBlockedByBitmap(error)) throw error
    const removed = removeInconsistentBitmaps(context, domain, signal)
    return removed.then(() => growDisk(context, domain, 'vda', bytes, signal)).catch(withBitmapMessage)
  })

/** Of a running domain. */
export const growDisk = ({ call }: HostContext, domain: Domain, disk: string, bytes: number, signal: AbortSignal): Promise<number> =>
  call(`grow ${disk} of ${domain.name}`, signal, async (host) => {
    const { capacity } = await host.domains.getBlockInfo({ domain, disk })
    const wanted = BigInt(bytes)
    if (capacity < wanted) await host.domains.blockResize({ domain, disk, size: wanted, flags: ['bytes'] })
    return Number(capacity < wanted ? wanted : capacity)
  })

function withBitmapMessage(error: unknown): never {
  if (!isDriverError(error) || error.kind === 'aborted') throw error
  const userMessage = 'The disk was not resized: backup tracking data damaged by a crash could not be removed. Contact support.'
  throw new DriverError(error.kind, error.message, { userMessage, cause: error })
}

const isBlockedByBitmap = (error: unknown): boolean => hasText(error, 'inconsistentBitmap')

interface Node {
  'node-name': string
  ro: boolean
  'dirty-bitmaps'?: { name: string; inconsistent?: boolean }[]
}

/** Of a running domain. libvirt itself removes only bitmaps that it has a checkpoint of. */
export const removeInconsistentBitmaps = ({ call, log, hostId }: HostContext, domain: Domain, signal: AbortSignal): Promise<void> =>
  call(`remove inconsistent bitmaps of ${domain.name}`, signal, async (host) => {
    const nodes = (await qmp(host, domain, 'query-named-block-nodes', { flat: true })) as Node[]
    for (const { 'node-name': node, ro, 'dirty-bitmaps': bitmaps = [] } of nodes)
      for (const { name, inconsistent } of bitmaps) {
        if (ro || !inconsistent) continue
        await qmp(host, domain, 'block-dirty-bitmap-remove', { node, name })
        log.info({ hostId, domain: domain.name, bitmap: name }, 'inconsistent dirty bitmap removed')
      }
  })

async function qmp(host: Host, domain: Domain, execute: string, args: Record<string, unknown>): Promise<unknown> {
  const answer = await host.guests.monitorCommand({ domain, command: JSON.stringify({ execute, arguments: args }) })
  const { return: given, error } = JSON.parse(answer) as { return?: unknown; error?: { desc: string } }
  if (error) throw new Error(`${execute}: ${error.desc}`)
  return given
}

/** A paused domain with the disk, destroyed with our connection at the latest (`autodestroy`). */
export async function withDiskOpen<T>(
  context: HostContext,
  disk: Volume,
  arch: Arch,
  work: (domain: Domain) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const name = diskHelperName(disk.name)
  const close = (): Promise<unknown> =>
    context.call(`close ${disk.name}`, AbortSignal.timeout(CLEANUP_TIMEOUT_MS), async (host) => {
      const left = await undefinedIfNotFound(host.domains.lookupByName({ name }))
      if (left) await undefinedIfNotFound(host.domains.destroy({ domain: left }))
    })
  await close() // one of a dead process, whose connection the daemon has not closed yet
  try {
    const type = { arch, machine: MACHINE[arch] }
    const label = seclabelXml(readVolumeName(disk.name).vmId ?? '', await guestGroup(context, signal))
    const { xml } = pausedDomainXml(name, type, diskXml(await readDiskFile(context, disk, signal)), label)
    return await work(
      await context.call(`open ${disk.name}`, signal, (host) => host.domains.createXml({ xml, flags: ['paused', 'autodestroy'] })),
    )
  } finally {
    await close()
  }
}
