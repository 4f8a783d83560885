// Snapshots: standalone copies of the disk on the host, or RBD snapshots of an image in a storage backend.
import type { SnapshotsAndBackups } from '../../driver.ts'
import type { RbdPool } from '../../rbd/pool.ts'
import { ensureThawed, withFilesystemsFrozen } from './fsfreeze.ts'
import { findPool } from '../storage/backends.ts'
import { fileBytes, makeCopy, removeCopy } from './copy.ts'
import { getMachine } from '../domain/lookup.ts'
import { snapshotName } from '../core/resource-names.ts'
import { copyRemovedError } from './backup-job.ts'
import type { HostContext } from '../core/host-context.ts'
import { findComplete } from '../storage/volumes.ts'

export function snapshotMethods(context: HostContext): Pick<SnapshotsAndBackups, 'ensureSnapshot' | 'ensureNoSnapshot'> {
  return {
    ensureSnapshot: (vmId, snapshotId, signal) =>
      context.exclusive(`copy:${vmId}`, signal, async () => {
        const pool = await findPool(context, vmId, signal)
        if (pool) return snapshotInPool(context, pool, vmId, snapshotId, signal)
        const name = snapshotName(vmId, snapshotId)
        if (!(await findComplete(context, name, signal)))
          await makeCopy(context, { vmId, name }, await getMachine(context, vmId, signal), signal)
        const volume = await findComplete(context, name, signal)
        if (!volume) throw copyRemovedError(context, name)
        return { sizeBytes: await fileBytes(context, volume, signal) }
      }),

    ensureNoSnapshot: async (vmId, snapshotId, signal) => {
      const pool = await findPool(context, vmId, signal)
      await (pool ? pool.ensureNoSnapshot(vmId, snapshotId, signal) : removeCopy(context, vmId, snapshotName(vmId, snapshotId), signal))
    },
  }
}

async function snapshotInPool(
  context: HostContext,
  pool: RbdPool,
  vmId: string,
  snapshotId: string,
  signal: AbortSignal,
): Promise<{ sizeBytes: number }> {
  const machine = await getMachine(context, vmId, signal)
  await ensureThawed(context, machine)
  const disk = { vmId, generation: machine.metadata.generation }
  if (!(await pool.findSnapshot(vmId, snapshotId, signal)))
    await withFilesystemsFrozen(context, machine, () => pool.ensureSnapshot(disk, snapshotId, signal))
  const made = await pool.findSnapshot(vmId, snapshotId, signal)
  if (!made) throw copyRemovedError(context, snapshotName(vmId, snapshotId))
  return { sizeBytes: await pool.snapshotBytes(made, signal) }
}
