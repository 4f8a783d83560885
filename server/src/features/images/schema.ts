import { Bytes, Id, nameQuery, nameText, nullable, object, oneOf, sortQuery, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { labelQuery, Labels, ShownLabels } from '../labels/schema.ts'

const STATUSES = ['CREATING', 'AVAILABLE', 'FAILED', 'DELETING'] as const
const KINDS = ['DISK', 'ISO'] as const
const SOURCES = ['VM', 'SNAPSHOT', 'BACKUP', 'URL'] as const
const ARCHITECTURES = ['x86_64', 'aarch64'] as const

export const Image = object(
  {
    id: Type.String({ description: 'Given as osTemplateId where a VM is made or rebuilt' }),
    name: Type.String(),
    labels: ShownLabels,
    kind: Type.Enum([...KINDS], {
      description: 'DISK: VMs are made from it. ISO: it is put into the CD drives of VMs, which start from it',
    }),
    status: oneOf([...STATUSES]),
    error: nullable(Type.String({ description: 'Why it failed' })),
    lockedUntil: nullable(
      Type.String({
        format: 'date-time',
        description:
          'Of a deleted one: object lock keeps it in a backup target until then at the latest, and it counts in imageStorage meanwhile',
      }),
    ),
    isProtected: Type.Boolean({ description: 'Whether it is protected against deletion' }),
    source: object({
      type: oneOf([...SOURCES]),
      id: nullable(Type.String({ description: 'Of the VM, snapshot or backup, which may be deleted by now' })),
      url: nullable(Type.String()),
      vmId: nullable(Type.String({ description: 'The VM that it shows, also where it was made from a snapshot or backup' })),
    }),
    size: Bytes,
    disk: nullable(Type.Integer({ description: 'GiB that the disk of a VM needs at least' })),
    arch: nullable(Type.String()),
    defaultUser: nullable(Type.String({ description: 'Who gets the SSH keys and the password in a VM from it' })),
    checksum: nullable(Type.String({ description: 'sha256 of the image as it is kept' })),
    consistency: nullable(
      Type.Enum(['FILESYSTEM', 'CRASH'], {
        description:
          'FILESYSTEM: the VM was off, or its guest agent froze the filesystems. CRASH: the disk is as after a power failure. Null for other sources than VMs',
      }),
    ),
    billing: nullable(
      object({
        nextRenewalAt: Timestamp,
        status: oneOf(['ACTIVE', 'PAST_DUE', 'SUSPENDED']),
        priceMonthly: Type.String({ description: 'What the next renewal will charge' }),
      }),
    ),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Image' },
)
export type Image = Static<typeof Image>

const Name = nameText(1, 100)

export const CreateImage = object(
  {
    name: Name,
    labels: Type.Optional(Labels),
    vmId: Type.Optional(Type.String({ ...Id, description: 'Make it from this VM as it is now; the token needs the scope vms:update' })),
    snapshotId: Type.Optional(
      Type.String({ ...Id, description: 'Make it from this snapshot; the token needs the scope snapshots:restore' }),
    ),
    backupId: Type.Optional(Type.String({ ...Id, description: 'Make it from this backup; the token needs the scope backups:restore' })),
    url: Type.Optional(
      Type.String({
        ...nameText(1, 2_000),
        description:
          'Import this file, by https from a public address: a qcow2 or raw disk, or an ISO image, as it is or compressed with gzip, zstd or xz',
      }),
    ),
    checksum: Type.Optional(
      Type.String({
        pattern: '^sha256:[0-9a-f]{64}$',
        rule: 'must be sha256: and 64 hex digits in lower case',
        description: 'Of the file at the URL; required with it',
      }),
    ),
    kind: Type.Optional(Type.Enum([...KINDS], { description: 'Of the file at the URL; DISK when absent' })),
    arch: Type.Optional(Type.Enum([...ARCHITECTURES], { description: 'Of the system on an imported disk; that of the hosts when absent' })),
    defaultUser: Type.Optional(
      Type.String({
        pattern: '^[a-z_][a-z0-9_-]{0,31}$',
        rule: 'must be the name of a user: lower-case letters, digits, "_" and "-"',
        description: 'Of an imported disk: who gets SSH keys and password, by cloud-init; root when absent',
      }),
    ),
    guestAgent: Type.Optional(
      Type.Boolean({
        description: 'Of an imported disk: whether it runs the QEMU guest agent, which password resets need; false when absent',
      }),
    ),
  },
  { title: 'CreateImage', description: 'Exactly one of vmId, snapshotId, backupId and url' },
)
export type CreateImage = Static<typeof CreateImage>

export const UpdateImage = object(
  { name: Type.Optional(Name), labels: Type.Optional(Labels), isProtected: Type.Optional(Type.Boolean()) },
  { title: 'UpdateImage' },
)
export type UpdateImage = Static<typeof UpdateImage>

export const ImageCreated = object({ image: Image, actionId: Type.String() }, { title: 'ImageCreated' })
export type ImageCreated = Static<typeof ImageCreated>

export const ImageQuery = {
  kind: Type.Optional(Type.Enum([...KINDS], { description: 'Only those of this kind' })),
  status: Type.Optional(Type.Enum([...STATUSES])),
  ...nameQuery,
  ...labelQuery,
  ...sortQuery(['name', 'kind', 'status', 'size', 'priceMonthly']),
}
export type ImageQuery = Static<ReturnType<typeof Type.Object<typeof ImageQuery>>>

const ImageEventData = object(
  {
    image: Image,
    actionId: nullable(Type.String()),
    reason: nullable(Type.String({ description: 'Why it happened, where that is not clear' })),
  },
  { title: 'ImageEventData' },
)

export const imageEvents = {
  'image.creating': defineEvent(ImageEventData, 'An image is being made or imported', { by: ['createImage'] }),
  'image.created': defineEvent(ImageEventData, 'The image is available', { by: ['createImage'] }),
  'image.failed': defineEvent(ImageEventData, 'The image could not be made: `reason` says why', { sometimesBy: ['createImage'] }),
  'image.updated': defineEvent(ImageEventData, 'Name, labels or protection of an image were changed', { by: ['updateImage'] }),
  'image.renewed': defineEvent(ImageEventData, 'The next month of the image was charged'),
  'image.past_due': defineEvent(
    ImageEventData,
    'The wallet did not cover the renewal: no VM can be made from the image soon, then it is deleted',
  ),
  'image.deleted': defineEvent(ImageEventData, 'The image and its files are deleted, by its owner or because it was not paid', {
    by: ['deleteImage'],
  }),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof imageEvents> {}
}
