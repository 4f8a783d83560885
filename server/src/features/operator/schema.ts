// Schemas of the operator area.
import { Bytes, IPV6, Money, nullable, object, oneOf, QUAD, text, Timestamp, Type, type Static, nameText } from '../../http/api/schema.ts'
import { Plan, Region, Storage } from '../catalog/schema.ts'
import { MAINTENANCE_STATES } from '../maintenances/schema.ts'
import { Reply, Ticket, TicketWithReplies } from '../support/schema.ts'

const UsedOf = (unit: string) => object({ used: Type.Integer(), total: Type.Integer({ description: unit }) })
const rooms = { vcpu: UsedOf('vCPU that may be sold'), ramMiB: UsedOf('MiB'), diskGiB: UsedOf('GiB') }

export const OperatorHost = object(
  {
    id: Type.String(),
    name: Type.String(),
    region: Type.String({ description: 'Slug' }),
    driver: oneOf(['libvirt', 'simulated']),
    uri: Type.String(),
    arch: nullable(Type.String()),
    acceleration: nullable(Type.String({ description: 'kvm or emulation' })),
    ...rooms,
    overcommit: Type.Number({ description: 'vCPU sold for each CPU that is not dedicated' }),
    ramOvercommit: Type.Number({ description: 'MiB sold for each MiB of memory' }),
    traits: Type.Array(Type.String(), { description: 'Measured ones and those of the operator' }),
    dedicatedCpus: UsedOf('CPUs that are dedicated to single VMs'),
    diskReserve: Type.Integer({ description: 'Percent of the disk; below it nothing new is written' }),
    vmCount: Type.Integer(),
    maintenance: Type.Boolean({ description: 'It gets no new VMs' }),
    draining: Type.Boolean({ description: 'Its VMs are being moved to other hosts' }),
    state: oneOf(['ready', 'maintenance', 'unreachable', 'lost', 'fenced', 'unseen']),
    unreachableSince: nullable(Timestamp),
    lastSeenAt: nullable(Timestamp),
    createdAt: Timestamp,
  },
  { title: 'OperatorHost' },
)
export type OperatorHost = Static<typeof OperatorHost>

export const WaitingRecovery = object(
  {
    vmId: Type.String(),
    name: Type.String(),
    from: Type.String({ description: 'The host that was lost' }),
    host: nullable(Type.String({ description: 'Where it is now' })),
    failures: Type.Integer(),
    step: nullable(Type.String({ description: 'At which the last attempt failed' })),
    problem: nullable(Type.String({ description: 'Why the last attempt failed' })),
    actionId: nullable(Type.String({ description: 'The last attempt' })),
    isUnderWay: Type.Boolean({ description: 'An attempt is being made' }),
    nextAttemptAt: Timestamp,
  },
  { title: 'WaitingRecovery' },
)
export type WaitingRecovery = Static<typeof WaitingRecovery>

export const OperatorMaintenance = object(
  {
    id: Type.String(),
    host: Type.String(),
    state: oneOf([...MAINTENANCE_STATES]),
    startsAt: Timestamp,
    endsAt: Timestamp,
    accounts: Type.Integer({ description: 'How many were told of it' }),
    vms: Type.Integer({ description: 'On the host now' }),
    text: Type.String(),
  },
  { title: 'OperatorMaintenance' },
)

export const AnnounceMaintenance = object({
  host: Type.String({ description: 'Its id or name, which customers do not see' }),
  startsAt: Timestamp,
  endsAt: Timestamp,
  text: Type.String({ description: 'What customers read: plain text, and not the name of the host' }),
})

export const AnnouncedMaintenance = object(
  { id: Type.String(), accounts: Type.Integer({ description: 'How many were told of it' }) },
  { title: 'AnnouncedMaintenance' },
)

export const ChangeHost = object({
  maintenance: Type.Optional(Type.Boolean()),
  overcommit: Type.Optional(Type.Number({ minimum: 1, maximum: 100 })),
  ramOvercommit: Type.Optional(Type.Number({ minimum: 1, maximum: 10 })),
  diskReserve: Type.Optional(Type.Integer({ minimum: 0, maximum: 90 })),
})
export type ChangeHost = Static<typeof ChangeHost>

const ofVm = { vmId: Type.String(), name: Type.String() }

export const DrainPlan = object(
  {
    moves: Type.Array(object({ ...ofVm, to: Type.String(), bytes: Type.Number(), seconds: Type.Number(), note: nullable(Type.String()) })),
    stays: Type.Array(object({ ...ofVm, reason: Type.String(), isTemporary: Type.Boolean() })),
    seconds: Type.Number({ description: 'Of all moves' }),
    factor: Type.Number({ description: 'By which estimates are corrected, from what earlier migrations took' }),
    backups: Type.Integer({ description: 'Of VMs elsewhere, which stay on the host' }),
  },
  { title: 'DrainPlan' },
)

export const StartDrain = object({
  concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 16, description: 'VMs at once, 2 by default' })),
  stopOthers: Type.Optional(Type.Boolean({ description: 'VMs whose migration fails twice are stopped for it, and started again' })),
  partial: Type.Optional(Type.Boolean({ description: 'VMs that cannot move are left' })),
})

export const Drain = object(
  {
    id: Type.String(),
    status: oneOf(['RUNNING', 'COMPLETED', 'INCOMPLETE', 'CANCELLED']),
    vms: Type.Integer({ description: 'On the host at the beginning' }),
    moved: Type.Array(object({ ...ofVm, to: Type.String(), seconds: nullable(Type.Number()), restarted: Type.Boolean() })),
    moving: Type.Array(object({ ...ofVm, to: Type.String() })),
    remaining: Type.Array(object({ ...ofVm, reason: Type.String() })),
    startedAt: Timestamp,
    endedAt: nullable(Timestamp),
  },
  { title: 'Drain' },
)

export const StartMigration = object({
  to: Type.Optional(Type.String({ maxLength: 64, description: 'Id or name of a host; by default that with most room' })),
  miBPerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description: 'Of memory and disk; by default unlimited' })),
})
export const MigrationQuery = { to: StartMigration.properties.to }
export const MigrationPlan = object(
  { from: Type.String(), to: Type.String(), note: nullable(Type.String({ description: 'What to know of it' })) },
  { title: 'MigrationPlan' },
)

export const RegionCapacity = object(
  {
    region: Type.String({ description: 'Slug' }),
    name: Type.String(),
    hosts: Type.Integer(),
    ...rooms,
    addresses: object({ used: Type.Integer(), total: Type.Integer() }),
  },
  { title: 'RegionCapacity' },
)
export type RegionCapacity = Static<typeof RegionCapacity>

export const Pool = object(
  {
    id: Type.String(),
    region: Type.String({ description: 'Slug' }),
    host: nullable(Type.String({ description: 'Name of the only host that can use it; null = every host of the region' })),
    cidr: Type.String(),
    gateway: Type.String(),
    dns: Type.Array(Type.String()),
    free: nullable(Type.Integer({ description: 'Null for IPv6, whose addresses nobody counts' })),
    resting: nullable(Type.Integer({ description: 'Released ones that nobody gets yet; null for IPv6' })),
    total: nullable(Type.Integer({ description: 'Addresses that VMs can have; null for IPv6' })),
    createdAt: Timestamp,
  },
  { title: 'Pool' },
)
export type Pool = Static<typeof Pool>

export const CreatePool = object({
  region: text(1, 64),
  cidr: Type.String({ minLength: 1, maxLength: 64, rule: 'must be a range such as 198.51.100.0/24' }),
  gateway: Type.String({ minLength: 1, maxLength: 64, rule: 'must be an address such as 198.51.100.1' }),
  host: Type.Optional(nullable(text(1, 64))),
  dns: Type.Optional(
    Type.Array(Type.String({ pattern: `^(${QUAD}|${IPV6})$`, rule: 'must be an address such as 9.9.9.9 or 2620:fe::fe' }), { maxItems: 4 }),
  ),
})
export type CreatePool = Static<typeof CreatePool>

export const OperatorTemplate = object(
  {
    id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    version: Type.String(),
    distribution: Type.String(),
    arch: Type.String(),
    state: oneOf(['available', 'not offered', 'deprecated', 'no image', 'simulated']),
    sizeBytes: Bytes,
    virtualBytes: Bytes,
    checksum: Type.String(),
    origin: Type.String({ description: 'Where the image came from, in words' }),
    command: nullable(Type.String({ description: 'What to run when it has no image' })),
    importedAt: nullable(Timestamp),
    createdAt: Timestamp,
  },
  { title: 'OperatorTemplate' },
)
export type OperatorTemplate = Static<typeof OperatorTemplate>

const Price = Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,2})?$', rule: 'must be an amount such as 7.50' })
const Speed = Type.Integer({ minimum: 1, maximum: 1_000_000 })
const DiskLimit = Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'null = unlimited' })
const Traits = Type.Array(text(1, 32), { maxItems: 20, description: 'What a host of its VMs must have, such as 10g or a word of your own' })
const Gigabytes = Type.Integer({ minimum: 0, maximum: 10_000_000 })

const Slug = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$', rule: 'must be 1-63 lower-case letters, digits or hyphens' })
const Country = Type.String({ pattern: '^[A-Z]{2}$', rule: 'must be two capital letters, such as DE' })

export const CreateRegion = object({
  slug: Slug,
  name: nameText(1, 100),
  country: Country,
  city: nameText(1, 100),
  available: Type.Optional(Type.Boolean()),
})
export type CreateRegion = Static<typeof CreateRegion>

export const ChangeRegion = object({
  name: Type.Optional(nameText(1, 100)),
  country: Type.Optional(Country),
  city: Type.Optional(nameText(1, 100)),
  available: Type.Optional(Type.Boolean({ description: 'False: no new VMs; those it has stay' })),
})
export type ChangeRegion = Static<typeof ChangeRegion>

export const CreatePlan = object({
  slug: Slug,
  name: nameText(1, 100),
  vcpu: Type.Integer({ minimum: 1, maximum: 64 }),
  ram: Type.Integer({ minimum: 128, maximum: 262_144, description: 'MiB' }),
  disk: Type.Integer({ minimum: 1, maximum: 4_096, description: 'GiB' }),
  storage: Type.Optional(Storage),
  bandwidth: Gigabytes,
  networkSpeed: Speed,
  throttleMbps: Type.Optional(Speed),
  diskIops: Type.Optional(nullable(DiskLimit)),
  diskMiBPerSecond: Type.Optional(nullable(DiskLimit)),
  dedicatedCpu: Type.Optional(Type.Boolean({ description: 'Each vCPU is a CPU of the host that no other VM has' })),
  traits: Type.Optional(Traits),
  price: Price,
  available: Type.Optional(Type.Boolean()),
  regions: Type.Optional(nullable(Type.Array(text(1, 64), { minItems: 1, maxItems: 100, description: 'Slugs; null = everywhere' }))),
})
export type CreatePlan = Static<typeof CreatePlan>

/** Existing VMs keep their size and pay a new price from their next renewal. */
export const ChangePlan = object({
  name: Type.Optional(nameText(1, 100)),
  price: Type.Optional(Price),
  available: Type.Optional(Type.Boolean()),
  bandwidth: Type.Optional(Gigabytes),
  networkSpeed: Type.Optional(Speed),
  throttleMbps: Type.Optional(Speed),
  diskIops: Type.Optional(nullable(DiskLimit)),
  diskMiBPerSecond: Type.Optional(nullable(DiskLimit)),
  dedicatedCpu: Type.Optional(Type.Boolean({ description: 'Each vCPU is a CPU of the host that no other VM has' })),
  traits: Type.Optional(Traits),
})
export type ChangePlan = Static<typeof ChangePlan>

export { Plan, Region }

const account = {
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  balance: Money,
  currency: Type.String(),
  vmCount: Type.Integer(),
  suspendedAt: nullable(Timestamp),
  createdAt: Timestamp,
}
export const OperatorAccount = object(account, { title: 'OperatorAccount' })
export type OperatorAccount = Static<typeof OperatorAccount>

export const AccountQuery = { q: Type.Optional(Type.String({ maxLength: 254, description: 'Part of the e-mail address, name or id' })) }

export const Limit = object({
  name: Type.String({ description: 'As the catalog has it, such as vms or ram_mib' }),
  limit: Type.Integer(),
  used: nullable(Type.Integer({ description: 'null where the limit holds for each single thing' })),
  isDefault: Type.Boolean(),
})
export const Person = object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  isOperator: Type.Boolean(),
  totpEnabled: Type.Boolean(),
  hasPassword: Type.Boolean({ description: 'False until the first link was used' }),
  lastSeenAt: nullable(Timestamp),
})
export const AccountDetails = object({ ...account, limits: Type.Array(Limit), users: Type.Array(Person) }, { title: 'AccountDetails' })
export type AccountDetails = Static<typeof AccountDetails>

export const CreateAccount = object({ email: text(3, 254), name: Type.Optional(nameText(0, 100)) })
export type CreateAccount = Static<typeof CreateAccount>

const Amount = Type.String({ pattern: '^-?\\d{1,9}(\\.\\d{1,2})?$', rule: 'must be an amount such as 12.50 or -12.50' })
export const MoneyOrder = object({ amount: Amount, reason: text(1, 500) })
export type MoneyOrder = Static<typeof MoneyOrder>
export const MoneyMoved = object(
  { transactionId: Type.String(), amount: Money, balance: Money, currency: Type.String() },
  { title: 'MoneyMoved' },
)

export const ChangeLimit = object({
  limit: nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'null = the default' })),
})

export const SetUpLink = object(
  { url: Type.String({ description: 'Works once, within 24 hours' }), expiresAt: Timestamp },
  { title: 'SetUpLink' },
)

export const SuspendAccount = object({ reason: text(1, 500) })
export const AccountSuspended = object(
  {
    account: OperatorAccount,
    actionIds: Type.Array(Type.String()),
    skipped: Type.Array(object({ vmId: Type.String(), reason: Type.String() })),
  },
  { title: 'AccountSuspended' },
)
export type AccountSuspended = Static<typeof AccountSuspended>

export const OperatorVm = object(
  {
    id: Type.String(),
    name: Type.String(),
    accountId: Type.String(),
    email: Type.String(),
    status: Type.String(),
    statusReason: nullable(Type.String()),
    plan: Type.String(),
    host: nullable(Type.String()),
    ipAddress: nullable(Type.String()),
    ipv6Address: nullable(Type.String()),
    createdAt: Timestamp,
  },
  { title: 'OperatorVm' },
)
export type OperatorVm = Static<typeof OperatorVm>
export const VmQuery = {
  account: Type.Optional(Type.String({ maxLength: 64, description: 'Id' })),
  host: Type.Optional(Type.String({ maxLength: 64, description: 'Id' })),
  status: Type.Optional(Type.String({ maxLength: 32 })),
}
export const Done = object({ message: Type.String(), actionId: nullable(Type.String()) }, { title: 'Done' })

export const ACTION_STATES = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const
const action = {
  id: Type.String(),
  workflow: Type.String(),
  action: Type.String(),
  status: oneOf([...ACTION_STATES]),
  isRollingBack: Type.Boolean({ description: 'It failed, and what it did is being undone' }),
  isCleanupFailed: Type.Boolean({ description: 'It failed, and something could not be undone: look at its steps' }),
  progress: Type.Integer(),
  attempt: Type.Integer(),
  accountId: nullable(Type.String()),
  email: nullable(Type.String()),
  subjectId: nullable(Type.String({ description: 'The VM' })),
  subjectName: nullable(Type.String()),
  error: nullable(Type.String()),
  errorCode: nullable(Type.String()),
  nextAttemptAt: Timestamp,
  deadlineAt: Timestamp,
  startedAt: nullable(Timestamp),
  completedAt: nullable(Timestamp),
  createdAt: Timestamp,
}
export const OperatorAction = object(action, { title: 'OperatorAction' })
export type OperatorAction = Static<typeof OperatorAction>

const OperatorStep = object({
  name: Type.String(),
  status: oneOf(['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'UNDONE']),
  tries: Type.Integer(),
  error: nullable(Type.String({ description: 'As the host or the program said it' })),
  startedAt: nullable(Timestamp),
  completedAt: nullable(Timestamp),
})
export const OperatorActionDetails = object({ ...action, steps: Type.Array(OperatorStep) }, { title: 'OperatorActionDetails' })
export type OperatorActionDetails = Static<typeof OperatorActionDetails>

export const ActionQuery = {
  status: Type.Optional(oneOf([...ACTION_STATES])),
  account: Type.Optional(Type.String({ maxLength: 64, description: 'Id' })),
  vm: Type.Optional(Type.String({ maxLength: 64, description: 'Id' })),
  cleanupFailed: Type.Optional(Type.Boolean({ description: 'Only those that need manual cleanup' })),
}

export const Stray = object(
  {
    host: Type.String(),
    kind: Type.String({ description: 'disk, seed, snapshot, backup or template' }),
    id: Type.String(),
    vmId: nullable(Type.String()),
    generation: Type.Integer(),
    sizeBytes: Bytes,
    reason: Type.String(),
    firstSeenAt: Timestamp,
    removedAfter: Timestamp,
  },
  { title: 'Stray' },
)
export type Stray = Static<typeof Stray>

export const StaffTicket = object({ ...Ticket.properties, email: Type.String(), accountId: Type.String() }, { title: 'StaffTicket' })
export const StaffTicketWithReplies = object(
  { ...TicketWithReplies.properties, email: Type.String(), accountId: Type.String() },
  { title: 'StaffTicketWithReplies' },
)
export const StaffTicketQuery = {
  status: Type.Optional(oneOf(['OPEN', 'ANSWERED', 'CLOSED'])),
  account: Type.Optional(Type.String({ maxLength: 64, description: 'Id' })),
}
export const StaffReply = object({ body: text(1, 10_000), close: Type.Optional(Type.Boolean()) })
export type StaffReply = Static<typeof StaffReply>
export const StaffReplied = object({ ticket: Ticket, reply: Reply }, { title: 'StaffReplied' })

export const SystemHealth = object(
  {
    version: Type.String(),
    schema: Type.String({ description: 'The newest migration' }),
    startedAt: Timestamp,
    checks: Type.Array(object({ name: Type.String(), isOk: Type.Boolean(), message: Type.String() })),
    counts: Type.Array(object({ name: Type.String(), count: Type.Integer(), isAlert: Type.Boolean() })),
  },
  { title: 'SystemHealth' },
)
export type SystemHealth = Static<typeof SystemHealth>
