import {
  Bytes,
  Id,
  IPV6,
  Money,
  nullable,
  object,
  oneOf,
  QUAD,
  text,
  Timestamp,
  Type,
  type Static,
  type TProperties,
  nameText,
} from '../../http/api/schema.ts'
import { Storage } from '../catalog/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'
import { ipv6ReverseFields, reverseFields, ReverseName } from '../reverse-names/schema.ts'
import { FirewallRule, packetFields } from '../firewalls/schema.ts'
import { Quote } from '../wallet/schema.ts'

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
  storage: Storage,
  dedicatedCpu: Type.Boolean({ description: 'Each vCPU is a CPU of the host that no other VM has' }),
  bandwidth: Type.Integer({ description: 'GB (10^9 bytes) per billing month; 0 = unmetered' }),
  networkSpeed: Type.Integer({ description: 'Mbit/s' }),
  network10gEnabled: Type.Boolean(),
  dailyBackupEnabled: Type.Boolean(),
  isProtected: Type.Boolean(),
  publicIpv4: Type.Boolean({ description: 'Whether it has, or is to have, a public IPv4 address' }),
  ipAddress: nullable(Type.String({ description: 'The public IPv4 address; null while none is assigned, and without publicIpv4' })),
  ipv6Address: nullable(Type.String({ description: 'Null where the region has no IPv6, and until the next rebuild of a VM from before' })),
  ipv6Prefix: nullable(Type.String({ description: 'The /64 of its own, with ipv6Address in it; null where it has that address alone' })),
  region: object({ slug: Type.String(), name: Type.String() }),
  plan: object({ slug: Type.String(), name: Type.String(), priceMonthly: Money }),
  osTemplate: object({ slug: Type.String(), name: Type.String(), version: Type.String() }),
  billing: object({
    nextRenewalAt: Timestamp,
    status: oneOf(['ACTIVE', 'PAST_DUE', 'SUSPENDED', 'CANCELLED']),
    priceMonthly: Type.String({ description: 'What the next renewal will charge, add-ons included' }),
  }),
  createdAt: Timestamp,
  shelvedAt: nullable(
    Type.String({ ...Timestamp, description: 'Since when it is shelved: on no host, STOPPED, and paid for its disk and addresses only' }),
  ),
}

const Named = object({ id: Type.String(), name: Type.String() })

export const VmListItem = object(listFields, { title: 'VmListItem' })
export type VmListItem = Static<typeof VmListItem>

const Hour = Type.Integer({ minimum: 0, maximum: 23, rule: 'must be an hour, 0-23, or null' })
const [KeepDaily, KeepWeekly, KeepMonthly] = [
  Type.Integer({ minimum: 1, maximum: 31, rule: 'must be 1-31', description: 'The newest daily backups' }),
  Type.Integer({
    minimum: 0,
    maximum: 53,
    rule: 'must be 0-53',
    description: 'The newest of each of so many weeks, from Monday to Sunday',
  }),
  Type.Integer({ minimum: 0, maximum: 24, rule: 'must be 0-24', description: 'The newest of each of so many months' }),
]
const hourDescription = 'UTC, in which daily backups begin; null: a time of its own between 22:00 and 06:00'

export const BackupPolicy = object(
  {
    hour: nullable(Type.Integer({ ...Hour, description: hourDescription })),
    keepDaily: KeepDaily,
    keepWeekly: KeepWeekly,
    keepMonthly: KeepMonthly,
  },
  { title: 'BackupPolicy', description: 'Of daily backups, where they are switched on' },
)
export type BackupPolicy = Static<typeof BackupPolicy>

const BackupPolicyChange = object(
  {
    hour: Type.Optional(nullable(Type.Integer({ ...Hour, description: hourDescription }))),
    keepDaily: Type.Optional(KeepDaily),
    keepWeekly: Type.Optional(KeepWeekly),
    keepMonthly: Type.Optional(KeepMonthly),
  },
  {
    title: 'BackupPolicyChange',
    description:
      'What is not given stays. It holds from the next daily backup on. Backups beyond the seven newest cost as much as those on demand, from the next renewal on. keepWeekly and keepMonthly need a region with a backup target',
  },
)

export const Vm = object(
  {
    ...listFields,
    networkLimited: Type.Boolean({
      description: 'Whether it is held to networkSpeed, and to the throttle at its traffic cap: always true',
    }),
    ...reverseFields,
    ...ipv6ReverseFields,
    backupPolicy: BackupPolicy,
    copiesPriceMonthly: Type.String({
      description: 'The part of billing.priceMonthly that its snapshots, on-demand backups and daily backups beyond seven cost',
    }),
    bandwidthUsedBytes: Type.Integer(),
    bandwidthPackBytes: Bytes,
    sshKeys: Type.Array(object({ id: Type.String(), name: Type.String(), fingerprint: Type.String() })),
    firewalls: Type.Array(Named),
    placementGroup: nullable(Named),
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
    bandwidth: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 100_000,
        multipleOf: 100,
        rule: 'must be 100-100000 GB in steps of 100',
        description: 'GB (10^9 bytes) per billing month, where the catalog has a price for it; what is included when absent',
      }),
    ),
    networkSpeed: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 10_000,
        multipleOf: 100,
        rule: 'must be 100-10000 Mbit/s in steps of 100',
        description: 'Mbit/s, where the catalog has a price for it; what is included when absent',
      }),
    ),
  },
  { title: 'CustomConfig' },
)

export const CreateVm = object(
  {
    regionId: Id,
    osTemplateId: Type.Optional(Type.String({ ...Id, description: 'Required without fromBackupId' })),
    fromBackupId: Type.Optional(
      Type.String({
        ...Id,
        description:
          'Instead of osTemplateId: the VM begins with the disk of this backup of any VM of the account, as a guest of its own. The plan needs a disk as large, the token the scope backups:restore',
      }),
    ),
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
    placementGroupId: Type.Optional(Id),
    publicIpv4: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'False: IPv6 alone, where the region has it, for ipv4PriceMonthly of the plan less',
      }),
    ),
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
    backupPolicy: Type.Optional(BackupPolicyChange),
    placementGroupId: Type.Optional(
      nullable(Type.String({ ...Id, description: 'The VM stays on its host; null takes it out of its group' })),
    ),
    reverseName: Type.Optional(ReverseName),
    ipv6ReverseName: Type.Optional(ReverseName),
  },
  { title: 'UpdateVm' },
)
export type UpdateVm = Static<typeof UpdateVm>

export type CustomConfig = Static<typeof CustomConfig>
export const UpgradeVm = object(
  { planId: Type.Optional(Id), customConfig: Type.Optional(CustomConfig) },
  { title: 'UpgradeVm', description: 'Either a plan or a custom configuration' },
)
export type UpgradeVm = Static<typeof UpgradeVm>
export const ResizeVm = object(
  {
    planId: Type.Optional(Id),
    customConfig: Type.Optional(CustomConfig),
    disk: Type.Optional(
      Type.Integer({
        minimum: 5,
        maximum: 4096,
        rule: 'must be 5-4096 GiB',
        description:
          'GiB. Alone: the disk grows, and everything else stays. With planId: a plan with a larger disk than its own. Either makes a custom configuration, which costs as much as before, or as the plan, and the additional disk',
      }),
    ),
  },
  { title: 'ResizeVm', description: 'A plan, a custom configuration, or a larger disk. A disk never shrinks' },
)
export type ResizeVm = Static<typeof ResizeVm>
export const ResizeQuote = object(
  {
    ...Quote.properties,
    restarts: Type.Boolean({ description: 'Whether the running VM is shut down and started again, once' }),
    moves: Type.Boolean({ description: 'Whether it moves to another host first, because its own is full; it keeps running meanwhile' }),
  },
  { title: 'ResizeQuote' },
)
export type ResizeQuote = Static<typeof ResizeQuote>
export const ForceOption = object({
  force: Type.Optional(Type.Boolean({ description: 'Cut it off at once instead of asking the guest first' })),
})
export const RebuildVm = object(
  { osTemplateId: Id, password: Type.Optional(Password), sshKeyIds: Type.Optional(Type.Array(Id, { maxItems: 20 })) },
  { title: 'RebuildVm' },
)
export type RebuildVm = Static<typeof RebuildVm>
export const SetPassword = object({ password: Password }, { title: 'SetPassword' })
export const CheckReach = object(
  {
    to: Type.String({
      minLength: 2,
      maxLength: 64,
      pattern: '^[0-9A-Za-z:._]+$',
      rule: 'must be an address such as 10.0.0.7 or 2001:db8::7, or the id of a VM',
      description:
        'An address, or the id of a VM: then the first of its addresses that is reached, in a network of both VMs before public ones',
    }),
    ...packetFields,
  },
  { title: 'CheckReach' },
)
export type CheckReach = Static<typeof CheckReach>

const ReachStep = object(
  {
    step: oneOf(['SENDER', 'OUTBOUND_FILTER', 'ROUTE', 'CLOSED_RANGE', 'DESTINATION', 'INBOUND_FILTER', 'RECEIVER']),
    passes: Type.Boolean({ description: 'False only for the last step' }),
    action: nullable(Type.String({ description: 'Of a filter: ACCEPT, DROP or REJECT' })),
    firewallId: nullable(Type.String({ description: 'The firewall of the rule' })),
    rule: nullable(FirewallRule),
    detail: Type.String({ description: 'What decides here, in a sentence' }),
    remedy: nullable(Type.String({ description: 'What to do where it does not pass, or, of a ROUTE, for guests to know the way' })),
  },
  { title: 'ReachStep' },
)
export type ReachStep = Static<typeof ReachStep>

export const Reach = object(
  {
    verdict: Type.Enum(['REACHABLE', 'FORWARDED', 'BLOCKED'], {
      description:
        'FORWARDED: it is handed to a gateway or router, or to an address that is no VM of the account; what happens there is not known',
    }),
    source: object({
      vmId: Type.String(),
      networkId: nullable(Type.String({ description: 'Of the private interface that sends; null for the public one' })),
      address: nullable(Type.String()),
    }),
    destination: object({
      vmId: nullable(Type.String({ description: 'Null for an address that no VM of the account has' })),
      address: nullable(Type.String()),
    }),
    applied: Type.Boolean({ description: 'Whether the hosts of both VMs have their latest rules' }),
    steps: Type.Array(ReachStep, { description: 'In the order of the packet' }),
  },
  { title: 'Reach' },
)
export type Reach = Static<typeof Reach>

export const AttachNetwork = object({ networkId: Id }, { title: 'AttachNetwork' })

const VM_SORTS = ['name', '-name', 'createdAt', '-createdAt', 'nextRenewalAt', '-nextRenewalAt'] as const
export type VmSort = (typeof VM_SORTS)[number]

export const VmQuery = {
  status: Type.Optional(Status),
  region: Type.Optional(Type.String({ maxLength: 64, description: 'Slug or id of a region' })),
  plan: Type.Optional(Type.String({ maxLength: 64, description: 'Slug or id of a plan; custom = a custom configuration' })),
  network: Type.Optional(Type.String({ maxLength: 64, description: 'Id of a private network' })),
  firewall: Type.Optional(Type.String({ maxLength: 64, description: 'Id of a firewall' })),
  shelved: Type.Optional(Type.Boolean({ description: 'Whether they are shelved' })),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Part of the name, in upper or lower case' })),
  address: Type.Optional(
    Type.String({
      pattern: `^(${QUAD}|${IPV6})$`,
      rule: 'must be an address such as 198.51.100.7 or 2001:db8::7',
      description: 'A public address, or the address in a private network',
    }),
  ),
  sort: Type.Optional(Type.Enum([...VM_SORTS], { default: '-createdAt', description: 'A leading - means descending' })),
}
export type VmQuery = Static<ReturnType<typeof Type.Object<typeof VmQuery>>>

const vmEventFields = {
  vm: VmListItem,
  actionId: nullable(Type.String({ description: 'The action that caused it; null where none did' })),
  reason: nullable(Type.String({ description: 'Why, where its owner did not ask for it' })),
  sequence: Type.Integer({ description: 'Rises with every event of the VM: of two events, the one with the larger sequence is later' }),
}

/** The payload of an event of a VM that also shows another resource. */
export const vmEventDataWith = <About extends TProperties>(title: string, about: About) => object({ ...about, ...vmEventFields }, { title })

export const VmEventData = object(vmEventFields, { title: 'VmEventData' })
export type VmEventData = Static<typeof VmEventData>

const NetworkEventData = vmEventDataWith('NetworkEventData', { network: object({ id: Type.String() }) })

export const vmEvents = {
  'vm.created': defineEvent(VmEventData, 'The VM runs for the first time', { by: ['createVm'], sometimesBy: ['rebuildVm'] }),
  'vm.started': defineEvent(VmEventData, 'The VM was started: `reason` is `host` when somebody started it on the host', {
    by: ['createVm', 'startVm', 'rebuildVm', 'restoreSnapshot', 'restoreBackup', 'unshelveVm'],
  }),
  'vm.stopped': defineEvent(
    VmEventData,
    'The VM was stopped: `reason` is `user` after stopVm, `migration` when it could not be started after a move, otherwise what was found on the host',
    {
      by: ['stopVm'],
    },
  ),
  'vm.restarted': defineEvent(
    VmEventData,
    'The VM was restarted: `reason` is `host` after its host was, `migration` when it was stopped to be moved to another host',
    { by: ['restartVm'] },
  ),
  'vm.suspended': defineEvent(VmEventData, 'The VM was switched off: `reason` is `unpaid` or `operator`'),
  'vm.terminated': defineEvent(VmEventData, 'The VM and its disk are deleted', { by: ['deleteVm'] }),
  'vm.provisioning': defineEvent(VmEventData, 'The VM is being created', { by: ['createVm'], sometimesBy: ['rebuildVm'] }),
  'vm.error': defineEvent(VmEventData, 'The VM could not be created, and was refunded; or its host lost it', {
    sometimesBy: ['createVm', 'rebuildVm'],
  }),
  'vm.upgrading': defineEvent(VmEventData, 'The upgrade has begun', { by: ['upgradeVm'] }),
  'vm.upgraded': defineEvent(VmEventData, 'The VM runs with its new size', { by: ['upgradeVm'] }),
  'vm.upgrade_failed': defineEvent(VmEventData, 'The VM kept its size, and the upgrade was refunded', { sometimesBy: ['upgradeVm'] }),
  'vm.resizing': defineEvent(VmEventData, 'The resize has begun', { by: ['resizeVm'] }),
  'vm.resized': defineEvent(VmEventData, 'The VM has its new size; what a smaller one gives back is refunded', { by: ['resizeVm'] }),
  'vm.resize_failed': defineEvent(VmEventData, 'The VM kept its size, and what was charged was refunded', { sometimesBy: ['resizeVm'] }),
  'vm.rebuilding': defineEvent(VmEventData, 'The rebuild has begun', { by: ['rebuildVm'] }),
  'vm.rebuilt': defineEvent(VmEventData, 'The VM runs on a new disk', { by: ['rebuildVm'] }),
  'vm.rebuild_failed': defineEvent(VmEventData, 'The VM kept its old disk', { sometimesBy: ['rebuildVm'] }),
  'vm.shelved': defineEvent(VmEventData, 'The VM is on no host any more: its disk is stored, and it costs its disk and addresses only', {
    by: ['shelveVm'],
  }),
  'vm.shelve_failed': defineEvent(VmEventData, 'The VM is where it was, as it was', { sometimesBy: ['shelveVm'] }),
  'vm.unshelved': defineEvent(VmEventData, 'The VM is on a host again; it runs if it did when it was shelved', { by: ['unshelveVm'] }),
  'vm.unshelve_failed': defineEvent(VmEventData, 'The VM stayed shelved, and what unshelving cost was refunded', {
    sometimesBy: ['unshelveVm'],
  }),
  'vm.network_attached': defineEvent(NetworkEventData, 'The VM has an interface in the network', { by: ['attachNetwork'] }),
  'vm.network_detached': defineEvent(NetworkEventData, 'The VM has left the network', {
    by: ['detachNetwork'],
    sometimesBy: ['restoreBackup'],
  }),
  'vm.recovered': defineEvent(
    VmEventData,
    'The host of the VM was destroyed, and the VM is on another one: `reason` says from which backup, and what was lost',
  ),
  'vm.lost': defineEvent(
    VmEventData,
    'The host of the VM was destroyed, and there was no backup: its disk is lost, unused days were refunded, and a rebuild makes it anew',
  ),
  'vm.migrated': defineEvent(VmEventData, 'The operator moved the VM to another host; it kept running, stayed off, or was restarted'),
  'vm.unsuspended': defineEvent(VmEventData, 'The suspension ended; the VM had been stopped before it, and still is'),
  'vm.unmanaged': defineEvent(VmEventData, 'The operator took the VM out of automatic management; it is not charged for'),
  'vm.adopted': defineEvent(VmEventData, 'The operator returned the VM to automatic management'),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof vmEvents> {}
}
