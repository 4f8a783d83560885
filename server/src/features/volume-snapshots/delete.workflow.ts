import { workflow } from '../deps.ts'
import { endRun } from '../volumes/service.ts'
import { lockBoth, removeData, type VolumeSnapshotInput } from './create.workflow.ts'
import { getVolumeRow, recordSnapshotEvent, refundSnapshot, releaseSnapshot } from './release.ts'
import * as sql from './sql.ts'

/** A failed delete is not compensated: the snapshot becomes FAILED, because its data may be incomplete, and can be deleted again. */
export const deleteVolumeSnapshot = workflow<VolumeSnapshotInput>('volume_snapshot.delete', { deadline: '1h', locks: lockBoth })
  .step('remove', { tries: 100, run: removeData })
  .onSuccess(async (tx, { deps, input, runId, now }) => {
    const volume = await getVolumeRow(tx, input.volumeId)
    const snapshot = (await sql.findSnapshot(tx, volume.id, input.snapshotId))!
    await releaseSnapshot(tx, volume, snapshot)
    await sql.deleteSnapshot(tx, snapshot.id)
    await endRun(tx, now, volume.id)
    await recordSnapshotEvent(tx, deps, snapshot, 'volume.snapshot_deleted', { actionId: runId })
    await refundSnapshot(tx, now, volume, snapshot)
  })
  .onFailure(async (tx, { input, now }) => {
    const volume = await getVolumeRow(tx, input.volumeId)
    const held = await sql.markFailed(tx, input.snapshotId)
    await releaseSnapshot(tx, volume, held)
    await endRun(tx, now, volume.id)
    await refundSnapshot(tx, now, volume, held)
  })
