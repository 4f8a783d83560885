import type { SnapshotsAndBackups } from '../driver.ts'
import { fileBytes, makeCopy, removeCopy } from './copying.ts'
import { getMachine } from './machine-state.ts'
import { snapshotName } from './names.ts'
import { copyRemovedError } from './push-copy.ts'
import type { HostContext } from './session.ts'
import { findComplete } from './volumes.ts'

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
