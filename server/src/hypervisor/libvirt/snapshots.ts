import type { Copies } from '../driver.ts'
import { fileBytes, makeCopy, removeCopy } from './copying.ts'
import { getMachine } from './machine-state.ts'
import { snapshotName } from './names.ts'
import { takenBack } from './push-copy.ts'
import type { Session } from './session.ts'
import { findWhole } from './volumes.ts'

export function snapshotVerbs(session: Session): Pick<Copies, 'ensureSnapshot' | 'ensureNoSnapshot'> {
  return {
    ensureSnapshot: (vmId, snapshotId, signal) =>
      session.alone(`copy:${vmId}`, signal, async () => {
        const name = snapshotName(vmId, snapshotId)
        if (!(await findWhole(session, name, signal)))
          await makeCopy(session, { vmId, name }, await getMachine(session, vmId, signal), signal)
        const volume = await findWhole(session, name, signal)
        if (!volume) throw takenBack(session, name)
        return { sizeBytes: await fileBytes(session, volume, signal) }
      }),

    ensureNoSnapshot: (vmId, snapshotId, signal) => removeCopy(session, vmId, snapshotName(vmId, snapshotId), signal),
  }
}
