import type { SnapshotsAndBackups } from '../../driver.ts'
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
        const name = snapshotName(vmId, snapshotId)
        if (!(await findComplete(context, name, signal)))
          await makeCopy(context, { vmId, name }, await getMachine(context, vmId, signal), signal)
        const volume = await findComplete(context, name, signal)
        if (!volume) throw copyRemovedError(context, name)
        return { sizeBytes: await fileBytes(context, volume, signal) }
      }),

    ensureNoSnapshot: (vmId, snapshotId, signal) => removeCopy(context, vmId, snapshotName(vmId, snapshotId), signal),
  }
}
