// Volumes of customers: empty qcow2 files on the host, or images in a storage backend.
import { DriverError, GIB, isDriverError, type VolumeRef, type VolumeSpec } from '../../driver.ts'
import { volumeImage } from '../../rbd/names.ts'
import type { HostContext } from '../core/host-context.ts'
import { CLEANUP_TIMEOUT_MS } from '../core/poll.ts'
import { volumeName } from '../core/resource-names.ts'
import { eachDomain } from '../domain/lookup.ts'
import { volumesOf, type DiskFile, type RbdDisk } from '../xml/domain-xml.ts'
import { connectImage, getPool } from './backends.ts'
import { growTo } from './resize.ts'
import { createVolume, findComplete, findVolume, markComplete, readDiskFile, removeVolume, waitUntilComplete } from './volumes.ts'

const missing = ({ hostId }: HostContext, volumeId: string): DriverError =>
  new DriverError('not_found', `Host ${hostId} has no complete volume ${volumeId}`)

/** As a domain has it. */
export async function openVolume(
  context: HostContext,
  { volumeId, storageId }: VolumeRef,
  signal: AbortSignal,
): Promise<DiskFile | RbdDisk> {
  if (storageId === null) {
    const file = await findComplete(context, volumeName(volumeId), signal)
    if (!file) throw missing(context, volumeId)
    return readDiskFile(context, file, signal)
  }
  const pool = await getPool(context, storageId)
  if (!(await pool.findVolume(volumeId, signal))) throw missing(context, volumeId)
  return connectImage(context, pool, volumeImage(volumeId), signal)
}

/** For a volume that no running machine has. */
export async function ensureVolume(context: HostContext, { volumeId, storageId, sizeGiB }: VolumeSpec, signal: AbortSignal): Promise<void> {
  const bytes = sizeGiB * GIB
  if (storageId !== null) return (await getPool(context, storageId)).ensureVolume(volumeId, bytes, signal)
  const name = volumeName(volumeId)
  const isMade =
    (await findComplete(context, name, signal)) ??
    // Another process may be making it.
    ((await findVolume(context, name, signal)) && (await waitUntilComplete(context, name, signal)))
  if (!isMade) await make(context, name, bytes, signal)
  const file = await findComplete(context, name, signal)
  if (!file) throw missing(context, volumeId)
  await growTo(context, file, bytes, signal)
}

async function make(context: HostContext, name: string, capacityBytes: number, signal: AbortSignal): Promise<void> {
  try {
    await createVolume(context, { name, format: 'qcow2', capacityBytes }, signal)
  } catch (error) {
    if (isDriverError(error, 'no_space')) await removeVolume(context, name, AbortSignal.timeout(CLEANUP_TIMEOUT_MS))
    // Another process was first: its file is as empty.
    if (!isDriverError(error, 'conflict')) throw error
  }
  await markComplete(context, name, signal)
}

/** Other than this one's. */
export async function requireUnused(context: HostContext, volumeId: string, vmId: string | null, signal: AbortSignal): Promise<void> {
  for await (const { domain, xml, metadata } of eachDomain(context, signal))
    if (metadata?.vmId !== vmId && volumesOf(xml).some(({ id }) => id === volumeId))
      throw new DriverError('in_use', `${domain.name} on host ${context.hostId} has volume ${volumeId}`)
}

export async function ensureNoVolume(context: HostContext, { volumeId, storageId }: VolumeRef, signal: AbortSignal): Promise<void> {
  await requireUnused(context, volumeId, null, signal)
  if (storageId === null) return removeVolume(context, volumeName(volumeId), signal)
  const pool = await getPool(context, storageId)
  if (await pool.isOpen(volumeId, signal)) throw new DriverError('in_use', `A machine has volume ${volumeId} open`)
  await pool.ensurePurged(volumeId, signal)
}
