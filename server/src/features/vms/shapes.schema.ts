// VMs as answers and events show them.
import { Bytes, Money, nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { Initialization } from '../actions/schema.ts'
import { Storage } from '../catalog/schema.ts'
import { ShownLabels } from '../labels/schema.ts'
import { ipv6ReverseFields, reverseFields } from '../reverse-names/schema.ts'

export const VM_STATUSES = ['PROVISIONING', 'RUNNING', 'STOPPED', 'SUSPENDED', 'REBUILDING', 'UPGRADING', 'UNMANAGED', 'ERROR'] as const
export type VmStatus = (typeof VM_STATUSES)[number]

export const Status = oneOf([...VM_STATUSES])

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
  osTemplate: object({ slug: Type.String(), name: Type.String(), version: Type.String(), arch: Type.String() }),
  billing: object({
    nextRenewalAt: Type.String({
      ...Timestamp,
      description: 'Nothing is charged then while status is CANCELLED (it failed to provision), and of an UNMANAGED VM',
    }),
    status: oneOf(['ACTIVE', 'PAST_DUE', 'SUSPENDED', 'CANCELLED']),
    priceMonthly: Type.String({ description: 'What the next renewal will charge, add-ons included' }),
  }),
  createdAt: Timestamp,
  labels: ShownLabels,
  shelvedAt: nullable(
    Type.String({ ...Timestamp, description: 'Since when it is shelved: on no host, STOPPED, and paid for its disk and addresses only' }),
  ),
  hostUnreachableSince: nullable(
    Type.String({ ...Timestamp, description: 'Since when its host does not answer: `status` is what was known then. Null: it answers' }),
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

export const BackupPolicyChange = object(
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
    nextBackupAt: nullable(
      Type.String({
        ...Timestamp,
        description: 'When its next daily backup is due; null without daily backups, and until one is scheduled',
      }),
    ),
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
    initialization: nullable(Initialization),
    rescue: nullable(
      object(
        {
          since: Timestamp,
          endsAt: Type.String({ ...Timestamp, description: 'When it ends by itself' }),
          user: Type.String({ description: 'Whom to log in as' }),
        },
        { title: 'Rescue', description: 'Of a VM that runs a rescue system; its own disk is attached beside that' },
      ),
    ),
    iso: nullable(
      object(
        {
          imageId: Type.String(),
          name: Type.String({ description: 'Of the image' }),
          since: Timestamp,
          active: Type.Boolean({
            description:
              'Whether its machine has it in the drive: false until it is started, or restarted, for the first time since, and in rescue',
          }),
        },
        { title: 'AttachedIso', description: 'In the CD drive of a VM, which starts from it first' },
      ),
    ),
  },
  { title: 'Vm' },
)
export type Vm = Static<typeof Vm>
