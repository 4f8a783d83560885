import { Bytes, Id, Money, nullable, object, oneOf, text, Timestamp, Type, type Static, nameText } from '../../http/api/schema.ts'

export const VM_STATUSES = ['PROVISIONING', 'RUNNING', 'STOPPED', 'SUSPENDED', 'REBUILDING', 'UPGRADING', 'UNMANAGED', 'ERROR'] as const
export type VmStatus = (typeof VM_STATUSES)[number]

const Status = oneOf([...VM_STATUSES])

const listFields = {
  id: Type.String(),
  name: Type.String(),
  hostname: Type.String(),
  status: Status,
  vcpu: Type.Integer(),
  ram: Type.Integer({ description: 'MiB' }),
  disk: Type.Integer({ description: 'GiB' }),
  bandwidth: Type.Integer({ description: 'GB (10^9 bytes) per billing month; 0 = unmetered' }),
  networkSpeed: Type.Integer({ description: 'Mbit/s' }),
  network10gEnabled: Type.Boolean(),
  dailyBackupEnabled: Type.Boolean(),
  isProtected: Type.Boolean(),
  ipAddress: nullable(Type.String({ description: 'Null while none is assigned' })),
  region: object({ slug: Type.String(), name: Type.String() }),
  plan: object({ slug: Type.String(), name: Type.String(), priceMonthly: Money }),
  osTemplate: object({ slug: Type.String(), name: Type.String(), version: Type.String() }),
  billing: object({
    nextRenewalAt: Timestamp,
    status: oneOf(['ACTIVE', 'PAST_DUE', 'SUSPENDED', 'CANCELLED']),
    priceMonthly: Type.String({ description: 'What the next renewal will charge, add-ons included' }),
  }),
  createdAt: Timestamp,
}

const Named = object({ id: Type.String(), name: Type.String() })

export const VmListItem = object(listFields, { title: 'VmListItem' })
export type VmListItem = Static<typeof VmListItem>

export const Vm = object(
  {
    ...listFields,
    networkLimited: Type.Boolean({
      description:
        'Whether its node can hold it to networkSpeed, and to the throttle at its traffic cap; false where the kernel lacks the modules',
    }),
    bandwidthUsedBytes: Type.Integer(),
    bandwidthPackBytes: Bytes,
    sshKeys: Type.Array(object({ id: Type.String(), name: Type.String(), fingerprint: Type.String() })),
    firewalls: Type.Array(Named),
    privateNetworks: Type.Array(
      object({ id: Type.String(), name: Type.String(), ipAddress: Type.String({ description: "The VM's own address in it" }) }),
    ),
    updatedAt: Timestamp,
    currentAction: nullable(object({ id: Type.String(), action: Type.String(), status: Type.String(), progress: Type.Integer() })),
    allowedActions: Type.Array(Type.String(), { description: 'What the API would accept now' }),
    readiness: oneOf(['booting', 'reachable']),
    statusReason: nullable(Type.String()),
  },
  { title: 'Vm' },
)
export type Vm = Static<typeof Vm>

export const Hostname = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: '^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?$',
  rule: 'must be 1-63 letters, digits or hyphens, and begin and end with a letter or digit',
})

export const Password = text(8, 128)
export const VmName = nameText(1, 100)

export const CustomConfig = object(
  {
    vcpu: Type.Integer({ minimum: 1, maximum: 64 }),
    ram: Type.Integer({ minimum: 512, maximum: 262_144, multipleOf: 256, rule: 'must be 512-262144 MiB in steps of 256' }),
    disk: Type.Integer({ minimum: 5, maximum: 4096, rule: 'must be 5-4096 GiB' }),
  },
  { title: 'CustomConfig' },
)

export const CreateVm = object(
  {
    regionId: Id,
    osTemplateId: Id,
    hostname: Hostname,
    planId: Type.Optional(Id),
    customConfig: Type.Optional(CustomConfig),
    password: Type.Optional(Password),
    sshKeyIds: Type.Optional(Type.Array(Id, { maxItems: 20 })),
    name: Type.Optional(VmName),
    dailyBackupEnabled: Type.Optional(Type.Boolean({ default: false })),
    network10gEnabled: Type.Optional(Type.Boolean({ default: false })),
    isProtected: Type.Optional(Type.Boolean({ default: false })),
    firewallIds: Type.Optional(Type.Array(Id, { maxItems: 10 })),
    privateNetworkIds: Type.Optional(Type.Array(Id, { maxItems: 5 })),
  },
  { title: 'CreateVm' },
)
export type CreateVm = Static<typeof CreateVm>

export const VmCreated = object({ vm: Vm, actionId: Type.String() }, { title: 'VmCreated' })
export type VmCreated = Static<typeof VmCreated>

export const UpdateVm = object(
  {
    name: Type.Optional(VmName),
    isProtected: Type.Optional(Type.Boolean()),
    dailyBackupEnabled: Type.Optional(Type.Boolean()),
    network10gEnabled: Type.Optional(Type.Boolean()),
  },
  { title: 'UpdateVm' },
)
export type UpdateVm = Static<typeof UpdateVm>

export const UpgradeVm = object({ planId: Id }, { title: 'UpgradeVm' })
export const ForceOption = object({
  force: Type.Optional(Type.Boolean({ description: 'Cut it off at once instead of asking the guest first' })),
})
export const RebuildVm = object(
  { osTemplateId: Id, password: Type.Optional(Password), sshKeyIds: Type.Optional(Type.Array(Id, { maxItems: 20 })) },
  { title: 'RebuildVm' },
)
export type RebuildVm = Static<typeof RebuildVm>
export const SetPassword = object({ password: Password }, { title: 'SetPassword' })
export const AttachNetwork = object({ networkId: Id }, { title: 'AttachNetwork' })

export const StatusQuery = { status: Type.Optional(Status) }
