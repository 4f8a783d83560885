import { formatCents } from '../../kernel/money.ts'
import type { OsTemplate, Plan, Region } from './schema.ts'
import type { PlanRow, RegionRow, ShownRegion, TemplateRow } from './sql.ts'

export const toRegion = (row: ShownRegion): Region => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  country: row.country,
  city: row.city,
  flag: row.flag,
  available: row.available,
})

interface UnitPrices {
  copyCents: bigint
  ipv4Cents: bigint
  /** Of a shelved VM. */
  keptIpv4Cents: bigint
  /** Of a GiB of the disk of a shelved VM. */
  shelvedCents: Record<PlanRow['storage'], bigint>
}

export const toPlan = (row: PlanRow, currency: string, prices: UnitPrices, regions: RegionRow[]): Plan => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  vcpu: row.vcpu,
  ram: row.ram_mib,
  disk: row.disk_gib,
  storage: row.storage,
  bandwidth: row.bandwidth_gb,
  networkSpeed: row.network_mbps,
  priceMonthly: formatCents(row.price_cents),
  currency,
  copyPriceMonthly: formatCents(prices.copyCents),
  ipv4PriceMonthly: formatCents(prices.ipv4Cents),
  shelvedPriceMonthly: formatCents(shelvedPrice(row, prices)),
  throttleMbps: row.throttle_mbps,
  diskIops: row.disk_iops,
  diskMiBPerSecond: row.disk_mib_per_second,
  dedicatedCpu: row.dedicated_cpu,
  traits: row.traits,
  available: row.available,
  regions: row.region_slugs ?? regions.map((region) => region.slug),
})

function shelvedPrice({ disk_gib, storage, price_cents }: PlanRow, { keptIpv4Cents, shelvedCents }: UnitPrices): bigint {
  const price = BigInt(disk_gib) * shelvedCents[storage] + keptIpv4Cents
  return price < price_cents ? price : price_cents
}

export const toOsTemplate = (row: TemplateRow): OsTemplate => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  version: row.version,
  distribution: row.distribution,
  arch: row.arch,
  firmware: row.firmware ?? (row.arch === 'x86_64' ? 'bios' : 'uefi'),
  tpm: row.tpm,
  minDisk: row.min_disk_gib,
  minRam: row.min_ram_mib,
  defaultUser: row.default_user,
  cloudInit: row.cloud_init,
  sizeBytes: row.size_bytes.toString(),
  checksum: row.checksum,
  available: row.available,
  deprecatedAt: row.deprecated_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
})
