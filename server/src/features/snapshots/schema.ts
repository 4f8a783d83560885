import { Bytes, nullable, object, oneOf, text, Timestamp, Type, type Static, nameText } from '../../http/api/schema.ts'

const STATUSES = ['CREATING', 'AVAILABLE', 'RESTORING', 'DELETING', 'FAILED'] as const
export type SnapshotStatus = (typeof STATUSES)[number]

export const Snapshot = object(
  {
    id: Type.String(),
    vmId: Type.String(),
    name: Type.String(),
    description: Type.String(),
    status: oneOf([...STATUSES]),
    size: Bytes,
    sizeRefreshedAt: nullable(Timestamp),
    createdAt: Timestamp,
  },
  { title: 'Snapshot' },
)
export type Snapshot = Static<typeof Snapshot>

export const CreateSnapshot = object({ name: nameText(1, 100), description: Type.Optional(text(0, 500)) }, { title: 'CreateSnapshot' })
export type CreateSnapshot = Static<typeof CreateSnapshot>

export const SnapshotCreated = object({ snapshot: Snapshot, actionId: Type.String() }, { title: 'SnapshotCreated' })
