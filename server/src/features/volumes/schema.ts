import { Id, nameQuery, nameText, nullable, object, oneOf, sortQuery, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { Storage, VolumeSizeGiB } from '../catalog/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { labelQuery, Labels, ShownLabels } from '../labels/schema.ts'

export const VOLUME_STATUSES = ['AVAILABLE', 'ATTACHING', 'ATTACHED', 'DETACHING'] as const

export const Volume = object(
  {
    id: Type.String(),
    name: Type.String(),
    labels: ShownLabels,
    sizeGiB: Type.Integer(),
    storage: Storage,
    region: object({ slug: Type.String(), name: Type.String() }),
    status: Type.String({ enum: [...VOLUME_STATUSES] }),
    vmId: nullable(Type.String({ description: 'The VM that has it; null while it is detached' })),
    devicePath: Type.String({ description: 'Where a Linux guest finds it, whichever other disks the VM has' }),
    isProtected: Type.Boolean(),
    currentAction: nullable(object({ id: Type.String(), action: Type.String(), status: Type.String(), progress: Type.Integer() })),
    billing: object({
      nextRenewalAt: Timestamp,
      status: oneOf(['ACTIVE', 'PAST_DUE', 'SUSPENDED']),
      priceMonthly: Type.String({ description: 'What the next renewal will charge' }),
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Volume' },
)
export type Volume = Static<typeof Volume>

const Name = nameText(1, 100)

export const CreateVolume = object(
  {
    name: Name,
    sizeGiB: VolumeSizeGiB,
    regionId: Type.String({ ...Id, description: 'The region whose VMs can have it' }),
    vmId: Type.Optional(Type.String({ ...Id, description: 'A VM of the region that it is attached to at once' })),
    snapshotId: Type.Optional(
      Type.String({
        ...Id,
        description:
          'A snapshot of a volume, whose data the new one begins with. It lies where the snapshot is; it cannot be given with vmId, and needs the scope snapshots:restore',
      }),
    ),
    storage: Type.Optional(
      Type.Enum(['LOCAL', 'REPLICATED'], {
        description:
          'REPLICATED: any VM of the region can have it. LOCAL: it lies on one host, that of vmId, and only VMs of this host can have it. Left out: REPLICATED where the region has it',
      }),
    ),
    labels: Type.Optional(Labels),
    isProtected: Type.Optional(Type.Boolean({ description: 'It cannot be deleted until this is false again' })),
  },
  { title: 'CreateVolume' },
)
export type CreateVolume = Static<typeof CreateVolume>

export const UpdateVolume = object(
  {
    name: Type.Optional(Name),
    labels: Type.Optional(Labels),
    isProtected: Type.Optional(Type.Boolean()),
    sizeGiB: Type.Optional(
      Type.Integer({
        ...VolumeSizeGiB,
        description: 'It can only grow. A running guest sees the new size at once, and grows its filesystem itself',
      }),
    ),
  },
  { title: 'UpdateVolume' },
)
export type UpdateVolume = Static<typeof UpdateVolume>

export const AttachVolume = object(
  { vmId: Type.String({ ...Id, description: 'A VM of the same region; of a volume on LOCAL storage, of the same host' }) },
  { title: 'AttachVolume' },
)

export const VolumeChanging = object(
  { vmId: Type.String({ description: 'The VM that gets it, or loses it: its actions show this one' }), actionId: Type.String() },
  { title: 'VolumeChanging' },
)
export type VolumeChanging = Static<typeof VolumeChanging>

export const VolumeQuery = {
  regionId: Type.Optional(Type.String({ ...Id, description: 'Only those of this region' })),
  vmId: Type.Optional(Type.String({ ...Id, description: 'Only those of this VM' })),
  status: Type.Optional(Type.Enum([...VOLUME_STATUSES])),
  ...nameQuery,
  ...labelQuery,
  ...sortQuery(['name', 'sizeGiB', 'region', 'status', 'priceMonthly'], '; region by its name'),
}
export type VolumeQuery = Static<ReturnType<typeof Type.Object<typeof VolumeQuery>>>

export const DeletedVolume = object({ id: Type.String() }, { title: 'DeletedVolume' })

const VolumeEventData = object(
  {
    volume: Volume,
    actionId: nullable(Type.String()),
    reason: nullable(Type.String({ description: 'Why it happened, where that is not clear' })),
  },
  { title: 'VolumeEventData' },
)

export const volumeEvents = {
  'volume.created': defineEvent(VolumeEventData, 'A volume was created', { by: ['createVolume'], sometimesBy: ['createVm'] }),
  'volume.attached': defineEvent(VolumeEventData, 'A VM has the volume', {
    by: ['attachVolume'],
    sometimesBy: ['createVolume', 'createVm'],
  }),
  'volume.attach_failed': defineEvent(VolumeEventData, 'A volume could not be attached and stays detached', {
    sometimesBy: ['attachVolume', 'createVolume', 'createVm'],
  }),
  'volume.detached': defineEvent(
    VolumeEventData,
    'A volume was taken from its VM; not recorded when the VM was deleted or restored elsewhere',
    {
      by: ['detachVolume'],
    },
  ),
  'volume.detach_failed': defineEvent(VolumeEventData, 'A volume could not be detached and stays with its VM', {
    sometimesBy: ['detachVolume'],
  }),
  'volume.grown': defineEvent(VolumeEventData, 'A volume is larger', { sometimesBy: ['updateVolume'] }),
  'volume.grow_failed': defineEvent(VolumeEventData, 'A volume could not be grown, and what that had cost was refunded', {
    sometimesBy: ['updateVolume'],
  }),
  'volume.renewed': defineEvent(VolumeEventData, 'The next month of the volume was charged'),
  'volume.past_due': defineEvent(VolumeEventData, 'The wallet did not cover the renewal: the volume will be detached, then deleted'),
  'volume.deleted': defineEvent(
    VolumeEventData,
    'A volume was deleted with its data: by its owner, because it was not paid, or because the VM that it was made with could not be built',
    { by: ['deleteVolume'], sometimesBy: ['createVm'] },
  ),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof volumeEvents> {}
}
