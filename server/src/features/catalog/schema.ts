import { Money, nullable, object, Timestamp, Type, type Static } from '../../http/api/schema.ts'

export const Region = object(
  {
    id: Type.String(),
    name: Type.String(),
    slug: Type.String(),
    country: Type.String({ description: 'ISO 3166 alpha-2' }),
    city: Type.String(),
    flag: Type.String({ description: 'The flag as an emoji' }),
    available: Type.Boolean(),
  },
  { title: 'Region' },
)
export type Region = Static<typeof Region>

export const VolumeSizeGiB = Type.Integer({ minimum: 1, maximum: 16_384, rule: 'must be 1-16384 GiB' })

export const Storage = Type.Enum(['LOCAL', 'REPLICATED'], {
  description: 'Where the disk is: LOCAL on the host of the VM, REPLICATED in several copies apart from it',
})

export const Plan = object(
  {
    id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    vcpu: Type.Integer(),
    ram: Type.Integer({ description: 'MiB' }),
    disk: Type.Integer({ description: 'GiB' }),
    storage: Storage,
    bandwidth: Type.Integer({ description: 'GB (10^9 bytes) per billing month; 0 = unmetered' }),
    networkSpeed: Type.Integer({ description: 'Mbit/s' }),
    priceMonthly: Money,
    currency: Type.String(),
    copyPriceMonthly: Type.String({ description: 'Of each GiB of snapshots and on-demand backups, a month; 0.00 = free' }),
    ipv4PriceMonthly: Type.String({ description: 'How much less a VM without a public IPv4 address costs a month (publicIpv4)' }),
    shelvedPriceMonthly: Type.String({
      description: 'What a VM with a public IPv4 address costs a month while it is shelved, its snapshots and backups apart',
    }),
    throttleMbps: Type.Integer({ description: 'Mbit/s once the bandwidth is used up' }),
    diskIops: nullable(Type.Integer({ description: 'Disk operations a second, reads and writes together; null = unlimited' })),
    diskMiBPerSecond: nullable(Type.Integer({ description: 'MiB a second to and from the disk together; null = unlimited' })),
    dedicatedCpu: Type.Boolean({
      description: 'True where each vCPU is a CPU of the host that no other VM has; false where they are shared',
    }),
    traits: Type.Array(Type.String(), { description: 'What the hosts of its VMs have, such as 10g, or words of the operator such as gpu' }),
    available: Type.Boolean({ description: 'False where it is not sold, or no host is large enough for it and has its traits' }),
    regions: Type.Array(Type.String(), { description: 'Slugs of the regions it is sold in' }),
  },
  { title: 'Plan' },
)
export type Plan = Static<typeof Plan>

export const OsTemplate = object(
  {
    id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    version: Type.String(),
    distribution: Type.String(),
    arch: Type.String({ description: 'Of its VMs: x86_64 or aarch64' }),
    firmware: Type.Enum(['bios', 'uefi', 'secure-boot'], { description: 'Of its VMs; secure-boot: UEFI that starts only what is signed' }),
    tpm: Type.Boolean({ description: 'Whether its VMs have a TPM 2.0' }),
    minDisk: Type.Integer({ description: 'GiB' }),
    minRam: Type.Integer({ description: 'MiB' }),
    defaultUser: Type.String(),
    cloudInit: Type.Boolean(),
    sizeBytes: Type.String({ description: 'Bytes as a decimal string' }),
    checksum: Type.String(),
    available: Type.Boolean(),
    deprecatedAt: nullable(Timestamp),
    createdAt: Timestamp,
  },
  { title: 'OsTemplate' },
)
export type OsTemplate = Static<typeof OsTemplate>
