import { Bytes, nullable, object, oneOf, plainText, Timestamp, Type, type Static, nameText } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { labelQuery, Labels, ShownLabels } from '../labels/schema.ts'
import { vmEventDataWith } from '../vms/schema.ts'

export const SNAPSHOT_STATUSES = ['CREATING', 'AVAILABLE', 'RESTORING', 'DELETING', 'FAILED'] as const
export type SnapshotStatus = (typeof SNAPSHOT_STATUSES)[number]

export const Snapshot = object(
  {
    id: Type.String(),
    vmId: Type.String(),
    name: Type.String(),
    description: Type.String(),
    labels: ShownLabels,
    status: oneOf([...SNAPSHOT_STATUSES]),
    size: Bytes,
    sizeRefreshedAt: nullable(Timestamp),
    createdAt: Timestamp,
  },
  { title: 'Snapshot' },
)
export type Snapshot = Static<typeof Snapshot>

export const CreateSnapshot = object(
  { name: nameText(1, 100), description: Type.Optional(plainText(0, 500)), labels: Type.Optional(Labels) },
  { title: 'CreateSnapshot' },
)
export type CreateSnapshot = Static<typeof CreateSnapshot>

export const UpdateSnapshot = object(
  { name: Type.Optional(nameText(1, 100)), description: Type.Optional(plainText(0, 500)), labels: Type.Optional(Labels) },
  { title: 'UpdateSnapshot', description: 'At least one of them' },
)
export type UpdateSnapshot = Static<typeof UpdateSnapshot>

export const SnapshotQuery = labelQuery

export const SnapshotCreated = object({ snapshot: Snapshot, actionId: Type.String() }, { title: 'SnapshotCreated' })

const SnapshotEventData = vmEventDataWith('SnapshotEventData', { snapshot: Snapshot })

export const snapshotEvents = {
  'snapshot.created': defineEvent(SnapshotEventData, 'The snapshot can be restored', {
    by: ['createSnapshot'],
    sometimesBy: ['startBulkAction'],
  }),
  'snapshot.deleted': defineEvent(SnapshotEventData, 'The snapshot and its file are deleted', { by: ['deleteSnapshot'] }),
  'snapshot.restored': defineEvent(SnapshotEventData, 'The VM runs on the disk of the snapshot', { by: ['restoreSnapshot'] }),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof snapshotEvents> {}
}
