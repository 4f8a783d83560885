import { takeVolumeSnapshot } from './create.workflow.ts'
import { deleteVolumeSnapshot } from './delete.workflow.ts'
import { restoreVolume } from './restore.workflow.ts'

export const volumeSnapshotWorkflows = [takeVolumeSnapshot, deleteVolumeSnapshot, restoreVolume]
