// Schemas of hosts, capacity, address pools, templates, regions and plans.
import { Bytes, IPV6, nullable, object, oneOf, QUAD, text, Timestamp, Type, type Static, nameText } from '../../http/api/schema.ts'
import { Plan, Region, Storage } from '../catalog/schema.ts'

const UsedOf = (unit: string) => object({ used: Type.Integer(), total: Type.Integer({ description: unit }) })
const rooms = { vcpu: UsedOf('vCPU that may be sold'), ramMiB: UsedOf('MiB'), diskGiB: UsedOf('GiB') }

const hostFields = {
  id: Type.String(),
  name: Type.String(),
  region: Type.String({ description: 'Slug' }),
  driver: oneOf(['libvirt', 'simulated']),
  uri: Type.String(),
  arch: nullable(Type.String()),
  acceleration: nullable(Type.String({ description: 'kvm or emulation' })),
  guestTypes: nullable(
    Type.Array(Type.String(), {
      description: 'Architectures of guests that it can run, and what they can have, such as x86_64:secure-boot; null: not known',
    }),
  ),
  ...rooms,
  overcommit: Type.Number({ description: 'vCPU sold for each CPU that is not dedicated' }),
  ramOvercommit: Type.Number({ description: 'MiB sold for each MiB of memory' }),
  traits: Type.Array(Type.String(), { description: 'Measured ones and those of the operator' }),
  dedicatedCpus: UsedOf('CPUs that are dedicated to single VMs'),
  diskReserve: Type.Integer({ description: 'Percent of the disk; below it nothing new is written' }),
  vmCount: Type.Integer(),
  maintenance: Type.Boolean({ description: 'It gets no new VMs' }),
  draining: Type.Boolean({ description: 'Its VMs are being moved to other hosts' }),
  state: oneOf(['ready', 'maintenance', 'unreachable', 'lost', 'fenced', 'destroyed', 'unseen']),
  unreachableSince: nullable(Timestamp),
  lastSeenAt: nullable(Timestamp),
  createdAt: Timestamp,
}
export const OperatorHost = object(hostFields, { title: 'OperatorHost' })
export type OperatorHost = Static<typeof OperatorHost>

export const OperatorHostDetails = object(
  {
    ...hostFields,
    hostname: Type.String(),
    uplinkMbps: nullable(Type.Integer()),
    cpuNodes: nullable(Type.Integer({ description: 'NUMA nodes' })),
    reachableSince: nullable(Timestamp),
    hasPowerControl: Type.Boolean({ description: 'Whether it can be fenced through its management controller' }),
    diskFreeGiB: nullable(Type.Integer({ description: 'As last measured' })),
    storages: Type.Array(
      object({
        name: Type.String(),
        kind: Type.String({ description: 'LOCAL, or that of a storage backend of the region' }),
        totalGiB: nullable(Type.Integer()),
        soldGiB: Type.Integer(),
        freeGiB: nullable(Type.Integer({ description: 'As last measured' })),
        isReachable: Type.Boolean(),
      }),
    ),
    ports: object({
      total: Type.Integer({ description: 'Of VMs on it, known to the network controller' }),
      pending: Type.Integer({ description: 'Not yet as they are to be' }),
      failed: Type.Integer({ description: 'Whose last attempt failed' }),
      error: nullable(Type.String({ description: 'Of one that failed' })),
    }),
    certificates: Type.Array(
      object({
        kind: Type.Enum(['LIBVIRT', 'CHASSIS'], { description: 'Of its libvirtd, or of its chassis toward network controllers' }),
        subject: Type.String(),
        issuer: Type.String(),
        expiresAt: Timestamp,
        seenAt: Timestamp,
      }),
      { description: 'That lie on it, as last read' },
    ),
    chassis: Type.Array(
      object({
        name: Type.String(),
        encaps: Type.Array(object({ type: Type.String(), address: Type.String() }), { description: 'Ends of its tunnels' }),
        ports: Type.Integer({ description: 'Bound there' }),
        confirmedAt: nullable({ ...Timestamp, description: 'When it last put a change in force' }),
        seenAt: Timestamp,
      }),
      { description: 'As the network controller knows it, as last read; a second one is left of an earlier name' },
    ),
  },
  { title: 'OperatorHostDetails' },
)
export type OperatorHostDetails = Static<typeof OperatorHostDetails>

export const HostLoadPoint = object(
  {
    at: Timestamp,
    cpus: Type.Number({ description: 'CPUs that are busy with VMs' }),
    ramUsedMiB: Type.Number(),
    diskBytesPerSecond: Type.Number(),
    networkInBytesPerSecond: Type.Number(),
    networkOutBytesPerSecond: Type.Number(),
    vms: Type.Integer(),
  },
  { title: 'HostLoadPoint' },
)
export type HostLoadPoint = Static<typeof HostLoadPoint>

export const WaitingRecovery = object(
  {
    vmId: Type.String(),
    name: Type.String(),
    from: Type.String({ description: 'The host that was lost' }),
    host: nullable(Type.String({ description: 'Where it is now; null: it waits for room' })),
    failures: Type.Integer(),
    step: nullable(Type.String({ description: 'At which the last attempt failed' })),
    problem: nullable(Type.String({ description: 'Why the last attempt failed, or what it waits for' })),
    actionId: nullable(Type.String({ description: 'The last attempt' })),
    isUnderWay: Type.Boolean({ description: 'An attempt is being made' }),
    nextAttemptAt: nullable({ ...Timestamp, description: 'Null: an operator has to run berthd host recover' }),
  },
  { title: 'WaitingRecovery' },
)
export type WaitingRecovery = Static<typeof WaitingRecovery>

export const ChangeHost = object({
  maintenance: Type.Optional(Type.Boolean()),
  overcommit: Type.Optional(Type.Number({ minimum: 1, maximum: 100 })),
  ramOvercommit: Type.Optional(Type.Number({ minimum: 1, maximum: 10 })),
  diskReserve: Type.Optional(Type.Integer({ minimum: 0, maximum: 90 })),
})
export type ChangeHost = Static<typeof ChangeHost>

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
    canImport: Type.Boolean({ description: 'The catalog has a URL of its image' }),
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
