import { Bytes, nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { ShownLabels } from '../labels/schema.ts'
import { SNAPSHOT_STATUSES } from '../snapshots/schema.ts'
import { Volume } from '../volumes/schema.ts'

export const VolumeSnapshot = object(
  {
    id: Type.String(),
    volumeId: Type.String(),
    name: Type.String(),
    description: Type.String(),
    labels: ShownLabels,
    status: oneOf([...SNAPSHOT_STATUSES]),
    size: Bytes,
    sizeRefreshedAt: nullable(Timestamp),
    volumeSizeGiB: Type.Integer({ description: 'Of the volume when the snapshot was taken: one made from it is at least so large' }),
    createdAt: Timestamp,
  },
  { title: 'VolumeSnapshot' },
)
export type VolumeSnapshot = Static<typeof VolumeSnapshot>

export const VolumeSnapshotCreated = object({ snapshot: VolumeSnapshot, actionId: Type.String() }, { title: 'VolumeSnapshotCreated' })
export type VolumeSnapshotCreated = Static<typeof VolumeSnapshotCreated>

const VolumeSnapshotEventData = object(
  {
    volume: Volume,
    snapshot: VolumeSnapshot,
    actionId: nullable(Type.String()),
    reason: nullable(Type.String({ description: 'Why it happened, where that is not clear' })),
  },
  { title: 'VolumeSnapshotEventData' },
)

export const volumeSnapshotEvents = {
  'volume.snapshot_created': defineEvent(VolumeSnapshotEventData, 'The snapshot of a volume can be restored', {
    by: ['createVolumeSnapshot'],
  }),
  'volume.snapshot_failed': defineEvent(VolumeSnapshotEventData, 'The snapshot of a volume could not be taken', {
    sometimesBy: ['createVolumeSnapshot'],
  }),
  'volume.snapshot_deleted': defineEvent(VolumeSnapshotEventData, 'The snapshot of a volume and its data are deleted', {
    by: ['deleteVolumeSnapshot'],
  }),
  'volume.restored': defineEvent(VolumeSnapshotEventData, 'The volume has the data of the snapshot', { by: ['restoreVolumeSnapshot'] }),
  'volume.restore_failed': defineEvent(VolumeSnapshotEventData, 'The volume could not be restored, and has the data that it had before', {
    sometimesBy: ['restoreVolumeSnapshot'],
  }),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof volumeSnapshotEvents> {}
}
