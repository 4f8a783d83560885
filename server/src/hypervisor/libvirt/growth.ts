// Disks grow, live or at rest. Never smaller: libvirt would cut a disk off without a word.
import type { Domain, Volume } from '@berth/libvirt'
import { DriverError, isDriverError, type Arch } from '../driver.ts'
import { isBlockedByBitmap, removeInconsistentBitmaps } from './broken-records.ts'
import { withDiskOpen } from './open-disk.ts'
import type { HostContext } from './session.ts'

export const capacityOf = ({ call }: HostContext, volume: Volume, signal: AbortSignal): Promise<number> =>
  call(`measure ${volume.name}`, signal, async (host) => Number((await host.volumes.getInfo({ volume })).capacity))

/** Answers how large it is. */
export async function growTo(context: HostContext, volume: Volume, bytes: number, signal: AbortSignal): Promise<number> {
  const capacity = await capacityOf(context, volume, signal)
  if (capacity >= bytes) return capacity
  await context.call(`grow ${volume.name}`, signal, (host) => host.volumes.resize({ volume, capacity: BigInt(bytes) }))
  return bytes
}

/** Of a machine that is off. Nothing but a QEMU that has the disk open removes a broken record, so one opens it where that is needed. */
export const growOffline = (context: HostContext, disk: Volume, bytes: number, arch: Arch, signal: AbortSignal): Promise<number> =>
  growTo(context, disk, bytes, signal).catch((error: unknown) => {
    if (!isBlockedByBitmap(error)) throw error
    return withDiskOpen(context, disk, arch, (domain) => growLive(context, domain, bytes, signal), signal).catch(withBitmapMessage)
  })

export const growLive = (context: HostContext, domain: Domain, bytes: number, signal: AbortSignal): Promise<number> =>
  grow(context, domain, bytes, signal).catch((error: unknown) => {
    if (!isBlockedByBitmap(error)) throw error
    const removed = removeInconsistentBitmaps(context, domain, signal)
    return removed.then(() => grow(context, domain, bytes, signal)).catch(withBitmapMessage)
  })

const grow = ({ call }: HostContext, domain: Domain, bytes: number, signal: AbortSignal): Promise<number> =>
  call(`grow the disk of ${domain.name}`, signal, async (host) => {
    const { capacity } = await host.domains.getBlockInfo({ domain, disk: 'vda' })
    const wanted = BigInt(bytes)
    if (capacity < wanted) await host.domains.blockResize({ domain, disk: 'vda', size: wanted, flags: ['bytes'] })
    return Number(capacity < wanted ? wanted : capacity)
  })

function withBitmapMessage(error: unknown): never {
  if (!isDriverError(error) || error.kind === 'aborted') throw error
  const sentence = 'The disk cannot grow: a crash broke its record of what changed since a backup, and it could not be removed.'
  throw new DriverError(error.kind, error.message, { userMessage: sentence, cause: error })
}
