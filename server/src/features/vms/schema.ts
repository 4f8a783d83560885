import {
  Id,
  IPV6,
  Money,
  nameQuery,
  nameText,
  nullable,
  object,
  oneOf,
  QUAD,
  sortQuery,
  text,
  Type,
  type Static,
} from '../../http/api/schema.ts'
import { VolumeSizeGiB } from '../catalog/schema.ts'
import { ReverseName } from '../reverse-names/schema.ts'
import { labelQuery, Labels } from '../labels/schema.ts'
import { FirewallRule, packetFields } from '../firewalls/schema.ts'
import { Quote } from '../wallet/schema.ts'
import { BackupPolicyChange, Status, Vm } from './shapes.schema.ts'

export * from './shapes.schema.ts'
export * from './events.schema.ts'

export const HOSTNAME_RULE = 'must be 1-63 letters, digits or hyphens, and begin and end with a letter or digit'
export const isHostname = (text: string): boolean => text.length <= 63 && /^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?$/.test(text)

/** Without a count it must be a host name as it is. */
const Hostname = Type.String({
  minLength: 1,
  maxLength: 63,
  pattern: '^([a-zA-Z0-9]|\\{n\\})(([a-zA-Z0-9-]|\\{n\\})*([a-zA-Z0-9]|\\{n\\}))?$',
  rule: HOSTNAME_RULE,
  description: 'Letters, digits and hyphens; with count also {n}, which stands for the number of the VM, such as web-{n}',
})

export const Password = text(8, 128)
export const MAX_NAME = 100
export const VmName = nameText(1, MAX_NAME)

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

const VmAlternative = object(
  { regionId: Type.Optional(Id), planId: Type.Optional(Id), customConfig: Type.Optional(CustomConfig) },
  { title: 'VmAlternative', description: 'At least one of them. What is left out is as in the request' },
)

const UserData = Type.String({
  minLength: 1,
  maxLength: 131_072,
  description:
    'What cloud-init does at the first boot: a script (#!), cloud configuration (#cloud-config), a MIME multipart message of such parts, or either as gzip in base64. At most 64 KiB when decoded. It can never be read back',
})

export const VmVolume = object(
  {
    volumeId: Type.Optional(
      Type.String({
        ...Id,
        description:
          'A detached volume of the account: then nothing else is given. The VM is placed on the host of one on LOCAL storage. Needs the scope volumes:update, and goes with no count above 1',
      }),
    ),
    name: Type.Optional(
      Type.String({
        ...nameText(1, 100),
        description: 'Of a new volume: required, with sizeGiB. With a count {n} stands for the number of the VM, as in name of the VM',
      }),
    ),
    sizeGiB: Type.Optional(VolumeSizeGiB),
    storage: Type.Optional(
      Type.Enum(['LOCAL', 'REPLICATED'], { description: 'Of a new volume; left out: REPLICATED where the region has it' }),
    ),
    labels: Type.Optional(Labels),
    isProtected: Type.Optional(Type.Boolean({ description: 'Of a new volume: it cannot be deleted until this is false again' })),
  },
  { title: 'VmVolume', description: 'A new volume needs the scope volumes:create' },
)
export type VmVolume = Static<typeof VmVolume>

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
    userData: Type.Optional(UserData),
    volumes: Type.Optional(
      Type.Array(VmVolume, {
        maxItems: 8,
        description:
          'The VM has them from its first start. New ones are charged with the VM, and deleted and refunded where it cannot be built',
      }),
    ),
    labels: Type.Optional(Labels),
    publicIpv4: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'False: IPv6 alone, where the region has it, for ipv4PriceMonthly of the plan less',
      }),
    ),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 20,
        rule: 'must be 1-20',
        description:
          'So many VMs that are alike, all or none. In hostname and name {n} stands for the number of each, from 1; without {n} a hyphen and the number are appended where there are several',
      }),
    ),
    alternatives: Type.Optional(
      Type.Array(VmAlternative, {
        maxItems: 5,
        description:
          'What to try, in this order, where the request itself cannot be had now (no_capacity, unavailable). What is placed is charged; all VMs of a count are placed alike. Any other refusal, such as too little money for it, ends the request',
      }),
    ),
  },
  { title: 'CreateVm' },
)
export type CreateVm = Static<typeof CreateVm>

const Place = object({ id: Type.String(), slug: Type.String() })

export const Availability = object(
  {
    region: Place,
    plan: Place,
    architecture: Type.String({ description: 'Of the OS template: x86_64 or aarch64' }),
    available: Type.Boolean(),
    code: nullable(
      Type.Enum(['region_closed', 'plan_not_offered', 'architecture_not_offered', 'never', 'full', 'no_address'], {
        description:
          'Why not. never: no host of the region is large enough for the plan, or has what it needs. full: there is no room now. no_address: no public IPv4 address is free. Null where it is available',
      }),
    ),
    reason: nullable(Type.String({ description: 'The same as a sentence' })),
  },
  {
    title: 'Availability',
    description:
      'Whether a VM of this plan would be placed in this region now, with a public IPv4 address and without add-ons. A few seconds old. Quotas and money are not looked at',
  },
)
export type Availability = Static<typeof Availability>

const filterOf = (what: string) => Type.Optional(Type.String({ maxLength: 64, description: `Slug or id of a ${what}` }))
export const AvailabilityQuery = {
  region: filterOf('region'),
  plan: filterOf('plan'),
  architecture: Type.Optional(Type.Enum(['x86_64', 'aarch64'])),
}
export type AvailabilityQuery = Static<ReturnType<typeof Type.Object<typeof AvailabilityQuery>>>

const alternative = Type.Optional(
  nullable(
    Type.Integer({
      minimum: 0,
      description: 'Only with alternatives: the index of the one that is placed; null: the request itself',
    }),
  ),
)

export const VmCreated = object(
  {
    vm: Vm,
    actionId: Type.String(),
    vms: Type.Optional(Type.Array(Vm, { description: 'Only with count: all of them, in the order of their numbers' })),
    actionIds: Type.Optional(Type.Array(Type.String(), { description: 'Only with count: of each in the order of vms' })),
    alternative,
  },
  { title: 'VmCreated' },
)
export type VmCreated = Static<typeof VmCreated>

export const CreateQuote = object(
  {
    ...Quote.properties,
    volumesMonthly: Type.Optional({ ...Money, description: 'Only with volumes: what new ones are of `charge` and `monthly`' }),
    alternative,
  },
  { title: 'CreateQuote', description: 'Of all VMs of a count, and of their new volumes' },
)
export type CreateQuote = Static<typeof CreateQuote>

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
    labels: Type.Optional(Labels),
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
    restarts: Type.Boolean({
      description:
        'Whether the running VM is shut down and started again, once. One that has room for its larger size gets it while it runs',
    }),
  },
  { title: 'ResizeQuote' },
)
export type ResizeQuote = Static<typeof ResizeQuote>
export const ForceOption = object({
  force: Type.Optional(Type.Boolean({ description: 'Cut it off at once instead of asking the guest first' })),
})
export const RebuildVm = object(
  {
    osTemplateId: Id,
    password: Type.Optional(Password),
    sshKeyIds: Type.Optional(Type.Array(Id, { maxItems: 20 })),
    userData: Type.Optional(
      nullable(Type.String({ ...UserData, description: 'As in createVm; by default what the VM was made with, and null for none' })),
    ),
  },
  { title: 'RebuildVm' },
)
export type RebuildVm = Static<typeof RebuildVm>
export const RescueVm = object(
  {
    sshKeyIds: Type.Optional(
      Type.Array(Id, { maxItems: 20, description: 'Who can log in to the rescue system; by default the keys that the VM was made with' }),
    ),
    password: Type.Optional(Type.String({ ...Password, description: 'Of the rescue system alone. Without keys it is required' })),
  },
  { title: 'RescueVm' },
)
export type RescueVm = Static<typeof RescueVm>
export const AttachIso = object(
  {
    imageId: Type.String({ ...Id, description: 'An image of kind ISO; the token needs the scope images:read' }),
    restart: Type.Optional(
      Type.Boolean({ description: 'Restart a running VM, so that it starts from it now; false when absent: at its next start or restart' }),
    ),
  },
  { title: 'AttachIso' },
)
export type AttachIso = Static<typeof AttachIso>
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
    missingPeering: nullable(
      Type.Array(object({ id: Type.String(), name: Type.String() }), {
        description: 'Two networks of the account, one of each VM, whose peering would lead there; null where no peering is missing',
      }),
    ),
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

export const VmQuery = {
  status: Type.Optional(Status),
  region: Type.Optional(Type.String({ maxLength: 64, description: 'Slug or id of a region' })),
  plan: Type.Optional(Type.String({ maxLength: 64, description: 'Slug or id of a plan; custom = a custom configuration' })),
  network: Type.Optional(Type.String({ maxLength: 64, description: 'Id of a private network' })),
  firewall: Type.Optional(Type.String({ maxLength: 64, description: 'Id of a firewall' })),
  shelved: Type.Optional(Type.Boolean({ description: 'Whether they are shelved' })),
  ...nameQuery,
  address: Type.Optional(
    Type.String({
      pattern: `^(${QUAD}|${IPV6})$`,
      rule: 'must be an address such as 198.51.100.7 or 2001:db8::7',
      description: 'A public address, or the address in a private network',
    }),
  ),
  ...labelQuery,
  ...sortQuery(['name', 'nextRenewalAt', 'status', 'priceMonthly', 'region', 'plan'], '; region and plan by their names'),
}
export type VmQuery = Static<ReturnType<typeof Type.Object<typeof VmQuery>>>
