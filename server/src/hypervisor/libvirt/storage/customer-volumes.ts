// Volumes of customers: qcow2 files on the host, or images in a storage backend.
import type { Volume } from '@berth/libvirt'
import { DriverError, GIB, isDriverError, type VolumeRef, type VolumeSnapshotRef, type VolumeSpec } from '../../driver.ts'
import { volumeImage } from '../../rbd/names.ts'
import type { HostContext } from '../core/host-context.ts'
import { CLEANUP_TIMEOUT_MS } from '../core/poll.ts'
import { snapshotName, volumeName } from '../core/resource-names.ts'
import { eachDomain } from '../domain/lookup.ts'
import { volumesOf, type DiskFile, type RbdDisk } from '../xml/domain-xml.ts'
import { connectImage, getPool } from './backends.ts'
import { capacityOf, growTo } from './resize.ts'
import { becomesComplete, createVolume, findComplete, markComplete, readDiskFile, removeVolume } from './volumes.ts'

async function getComplete(context: HostContext, name: string, signal: AbortSignal): Promise<Volume> {
  const file = await findComplete(context, name, signal)
  if (!file) throw new DriverError('not_found', `Host ${context.hostId} has no complete ${name}`)
  return file
}

/** On the host. */
export const getVolumeFile = (context: HostContext, volume: VolumeRef, signal: AbortSignal): Promise<Volume> =>
  getComplete(context, volumeName(volume), signal)

/** As a domain has it. */
export async function openVolume(context: HostContext, volume: VolumeRef, signal: AbortSignal): Promise<DiskFile | RbdDisk> {
  if (volume.storageId === null) return readDiskFile(context, await getVolumeFile(context, volume, signal), signal)
  const pool = await getPool(context, volume.storageId)
  if (!(await pool.findVolume(volume, signal)))
    throw new DriverError('not_found', `Pool ${pool.backend.pool} has no volume ${volume.volumeId}`)
  return connectImage(context, pool, volumeImage(volume), signal)
}

/** For a volume that no running machine has. */
export async function ensureVolume(
  context: HostContext,
  volume: VolumeSpec,
  source: VolumeSnapshotRef | null,
  signal: AbortSignal,
): Promise<void> {
  if (volume.storageId !== null) return (await getPool(context, volume.storageId)).ensureVolume(volume, source, signal)
  const [name, bytes] = [volumeName(volume), volume.sizeGiB * GIB]
  await ensureFile(context, name, signal, async () => {
    const from = source && (await getComplete(context, snapshotName(source.volumeId, source.snapshotId), signal))
    return from ? copyFile(context, name, from, signal) : createVolume(context, { name, format: 'qcow2', capacityBytes: bytes }, signal)
  })
  await growTo(context, await getVolumeFile(context, volume, signal), bytes, signal)
}

/** Waits for another process that makes the same file. */
export async function ensureFile(context: HostContext, name: string, signal: AbortSignal, make: () => Promise<unknown>): Promise<void> {
  while (!(await becomesComplete(context, name, signal)))
    try {
      await make()
      await markComplete(context, name, signal)
    } catch (error) {
      if (isDriverError(error, 'no_space')) await removeVolume(context, name, AbortSignal.timeout(CLEANUP_TIMEOUT_MS))
      if (!isDriverError(error, 'conflict')) throw error
    }
}

/** By the daemon; nothing may write to the file meanwhile. */
export const copyFile = async (context: HostContext, name: string, from: Volume, signal: AbortSignal): Promise<Volume> =>
  createVolume(context, { name, format: 'qcow2', capacityBytes: await capacityOf(context, from, signal) }, signal, from)

/** Other than this one's. */
export async function requireUnused(
  context: HostContext,
  { volumeId, generation }: { volumeId: string; generation?: number },
  vmId: string | null,
  signal: AbortSignal,
): Promise<void> {
  for await (const { domain, xml, metadata } of eachDomain(context, signal))
    if (
      metadata?.vmId !== vmId &&
      volumesOf(xml).some((each) => each.id === volumeId && each.generation === (generation ?? each.generation))
    )
      throw new DriverError('in_use', `${domain.name} on host ${context.hostId} has volume ${volumeId}`)
}

export async function ensureNoVolume(context: HostContext, volume: VolumeRef, signal: AbortSignal): Promise<void> {
  await requireUnused(context, volume, null, signal)
  if (volume.storageId === null) await removeVolume(context, volumeName(volume), signal)
  else await (await getPool(context, volume.storageId)).ensureNoVolume(volume, signal)
}
