// Snapshots of volumes: standalone copies of the file on the host, made by QEMU where a running machine has the volume, or RBD snapshots in a
// storage backend.
import type { VolumeData, VolumeRef, VolumeSnapshotRequest } from '../../driver.ts'
import type { HostContext } from '../core/host-context.ts'
import { snapshotName } from '../core/resource-names.ts'
import { getMachine, type MachineState } from '../domain/lookup.ts'
import { getPool } from '../storage/backends.ts'
import { copyFile, ensureFile, getVolumeFile } from '../storage/customer-volumes.ts'
import { findComplete, removeVolume } from '../storage/volumes.ts'
import { volumesOf } from '../xml/domain-xml.ts'
import { copyRemovedError } from './backup-job.ts'
import { fileBytes, makeCopy, removeCopy } from './copy.ts'
import { ensureThawed, withFilesystemsFrozen } from './fsfreeze.ts'

export const volumeSnapshotMethods = (context: HostContext): Pick<VolumeData, 'ensureVolumeSnapshot' | 'ensureNoVolumeSnapshot'> => ({
  ensureVolumeSnapshot: (volume, request, signal) =>
    context.exclusive(`copy:${request.vmId ?? volume.volumeId}`, signal, () => ensureSnapshot(context, volume, request, signal)),

  ensureNoVolumeSnapshot: async (volume, request, signal) => {
    if (volume.storageId !== null) return (await getPool(context, volume.storageId)).ensureNoVolumeSnapshot(volume, request, signal)
    const name = snapshotName(volume.volumeId, request.snapshotId)
    await (request.vmId === null ? removeVolume(context, name, signal) : removeCopy(context, request.vmId, name, signal))
  },
})

async function ensureSnapshot(
  context: HostContext,
  volume: VolumeRef,
  request: VolumeSnapshotRequest,
  signal: AbortSignal,
): Promise<{ sizeBytes: number }> {
  const machine = request.vmId === null ? undefined : await getMachine(context, request.vmId, signal)
  if (volume.storageId !== null) return inPool(context, volume, volume.storageId, request, machine, signal)
  const name = snapshotName(volume.volumeId, request.snapshotId)
  const disk = machine?.isOn ? volumesOf(machine.xml).find(({ id }) => id === volume.volumeId)?.target : undefined
  if (!(await findComplete(context, name, signal))) {
    if (machine && disk !== undefined) await makeCopy(context, { vmId: request.vmId!, disk, name }, machine, signal)
    else await ensureFile(context, name, signal, async () => copyFile(context, name, await getVolumeFile(context, volume, signal), signal))
  }
  const made = await findComplete(context, name, signal)
  if (!made) throw copyRemovedError(context, name)
  return { sizeBytes: await fileBytes(context, made, signal) }
}

async function inPool(
  context: HostContext,
  volume: VolumeRef,
  storageId: string,
  request: VolumeSnapshotRequest,
  machine: MachineState | undefined,
  signal: AbortSignal,
): Promise<{ sizeBytes: number }> {
  const pool = await getPool(context, storageId)
  if (machine) await ensureThawed(context, machine)
  if (machine && !(await pool.findSnapshot(volume.volumeId, request.snapshotId, signal)))
    await withFilesystemsFrozen(context, machine, () => pool.ensureSnapshot(volume, request.snapshotId, signal))
  return pool.ensureVolumeSnapshot(volume, request, signal)
}
