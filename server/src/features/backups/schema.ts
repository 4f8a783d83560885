import { Bytes, nullable, object, oneOf, Timestamp, Type, type Static, nameText } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { labelQuery, Labels, ShownLabels } from '../labels/schema.ts'
import { Snapshot } from '../snapshots/schema.ts'
import { vmEventDataWith } from '../vms/schema.ts'

const STATUSES = ['PENDING', 'RUNNING', 'AVAILABLE', 'RESTORING', 'DELETING', 'FAILED'] as const

const TYPES = ['DAILY', 'MANUAL'] as const

export const Backup = object(
  {
    id: Type.String(),
    vmId: Type.String(),
    name: Type.String(),
    labels: ShownLabels,
    type: oneOf([...TYPES]),
    status: oneOf([...STATUSES]),
    size: Bytes,
    disk: nullable(Type.Integer({ description: 'GiB; a VM that is made from it needs a disk as large. Null once its VM is deleted' })),
    startedAt: nullable(Timestamp),
    completedAt: nullable(Timestamp),
    expiresAt: nullable(
      Type.String({
        format: 'date-time',
        description:
          'Of daily backups: until when backupPolicy of the VM keeps it. Without a newer one it is kept, unless daily backups are switched off',
      }),
    ),
    error: nullable(Type.String({ description: 'Why it failed' })),
    consistency: nullable(
      Type.Enum(['FILESYSTEM', 'CRASH'], {
        description:
          'FILESYSTEM: the VM was off, or its guest agent froze the filesystems when the copy began. CRASH: no guest agent answered, so the disk is as after a power failure. Null until the backup is available, and for those of older releases',
      }),
    ),
    warning: nullable(Type.String({ description: 'What it does not protect from, where there is only one host to keep it on' })),
    verification: nullable(
      Type.Enum(['BOOTED', 'RUNNING', 'FAILED'], {
        description:
          'What a trial restore of it showed, in a guest without network. BOOTED: its data was read, with the right checksums unless it is kept on the host of its VM, where it has none, and the guest agent answered. RUNNING: the same, and the guest ran until the deadline, but no guest agent answered, so whether the system came up is not known. FAILED: `verificationError` says why. Null: not tried yet',
      }),
    ),
    verifiedAt: nullable(
      Type.String({ format: 'date-time', description: 'When it was last proved. Null if never, or if the last trial failed' }),
    ),
    verificationError: nullable(Type.String({ description: 'Why the trial restore failed' })),
    restoreSeconds: nullable(Type.Number({ description: 'How long the trial took until the disk was restored' })),
    bootSeconds: nullable(Type.Number({ description: 'How long its guest then took until the guest agent answered' })),
    hasScreenshot: Type.Boolean({ description: 'Whether there is a picture of the screen of that guest' }),
    createdAt: Timestamp,
  },
  { title: 'Backup' },
)
export type Backup = Static<typeof Backup>

export const BackupScreenshot = object(
  { takenAt: Timestamp, png: Type.String({ format: 'byte', description: 'A PNG of at most 480 x 360 pixels, in base64' }) },
  { title: 'BackupScreenshot' },
)
export type BackupScreenshot = Static<typeof BackupScreenshot>

export const CreateBackup = object({ name: nameText(1, 100), labels: Type.Optional(Labels) }, { title: 'CreateBackup' })
export type CreateBackup = Static<typeof CreateBackup>

export const UpdateBackup = object(
  { name: Type.Optional(nameText(1, 100)), labels: Type.Optional(Labels) },
  { title: 'UpdateBackup', description: 'At least one of them' },
)
export type UpdateBackup = Static<typeof UpdateBackup>

export const BackupQuery = labelQuery

export const RestoreBackup = object(
  {
    withoutNetworks: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Has no effect: a VM whose host is lost is restored on another one with its private networks. Older clients still send it',
      }),
    ),
  },
  { title: 'RestoreBackup' },
)

export const BackupCreated = object({ backup: Backup, actionId: Type.String() }, { title: 'BackupCreated' })
export const BackupDeleted = object({ message: Type.String() }, { title: 'BackupDeleted' })

const BackupEventData = vmEventDataWith('BackupEventData', { backup: Backup })

export const backupEvents = {
  'backup.created': defineEvent(BackupEventData, 'The backup can be restored', { by: ['createBackup'] }),
  'backup.failed': defineEvent(BackupEventData, 'The backup could not be made: `reason` says why', { sometimesBy: ['createBackup'] }),
  'backup.deleted': defineEvent(BackupEventData, 'The backup and its files are deleted', { by: ['deleteBackup'] }),
  'backup.restored': defineEvent(BackupEventData, 'The VM runs on the disk of the backup', {
    by: ['restoreBackup'],
    sometimesBy: ['createVm'],
  }),
  'backup.verified': defineEvent(BackupEventData, 'The backup was restored on trial, and its guest booted: `verification` says how far'),
  'backup.verification_failed': defineEvent(BackupEventData, 'The backup could not be restored on trial: `reason` says why'),
  'vm.restore_failed': defineEvent(
    vmEventDataWith('RestoreFailedEventData', { snapshot: Type.Optional(Snapshot), backup: Type.Optional(Backup) }),
    'The restore of the snapshot or backup failed: `reason` says what the VM runs on now',
    { sometimesBy: ['restoreSnapshot', 'restoreBackup'] },
  ),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof backupEvents> {}
}
