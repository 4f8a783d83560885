// Seeds the database from the catalog file: inserts missing rows by slug or name, and never overwrites an operator's change.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nativeArch } from '../../kernel/arch.ts'
import type { Tx } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { parseCents } from '../../kernel/money.ts'
import * as sql from './sql.ts'

interface CatalogFile {
  regions: { slug: string; name: string; country: string; city: string; flag: string; available?: boolean }[]
  plans: {
    slug: string
    name: string
    vcpu: number
    ram: number
    disk: number
    storage?: 'LOCAL' | 'REPLICATED'
    bandwidth: number
    networkSpeed: number
    throttleMbps: number
    diskIops?: number
    diskMiBPerSecond?: number
    dedicatedCpu?: boolean
    traits?: string[]
    priceMonthly: string
    default?: boolean
    available?: boolean
    regions?: string[]
  }[]
  osTemplates: {
    slug: string
    name: string
    version: string
    distribution: string
    arch?: string
    minDisk: number
    minRam: number
    defaultUser: string
    cloudInit: boolean
    hasAgent: boolean
    firmware?: 'bios' | 'uefi' | 'secure-boot'
    tpm?: boolean
    available?: boolean
    /** Name of the recipe that builds the image locally. */
    recipe?: string
    /** Download URLs of the image by architecture. */
    urls?: Record<string, string>
    /** URLs of the distributor's checksum files by architecture. */
    checksums?: Record<string, string>
  }[]
  hosts: { name: string; region: string; driver: 'auto' | 'libvirt' | 'simulated'; uri: string; vcpu: number; ram: number; disk: number }[]
  pools: { region: string; host?: string; cidr: string; gateway: string; dns: string[] }[]
  prices: Record<string, string>
  numbers: Record<string, number>
}

export type CatalogHost = CatalogFile['hosts'][number]
export type CatalogPool = CatalogFile['pools'][number]

const SHIPPED = join(import.meta.dirname, '../../../catalog.json')

export function readCatalog(path: string | null): CatalogFile {
  const file = path ?? SHIPPED
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as CatalogFile
  } catch (error) {
    throw new Error(`The catalog ${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

export async function seedCatalog(tx: Tx, now: Date, catalog: CatalogFile): Promise<void> {
  const row = (position: number, available = true) => ({ id: newId(), position, available, created_at: now })
  for (const [i, { available, ...region }] of catalog.regions.entries()) await sql.insertRegion(tx, { ...row(i, available), ...region })
  for (const [i, plan] of catalog.plans.entries()) {
    await sql.insertPlan(tx, {
      ...row(i, plan.available),
      slug: plan.slug,
      name: plan.name,
      vcpu: plan.vcpu,
      ram_mib: plan.ram,
      disk_gib: plan.disk,
      storage: plan.storage ?? 'LOCAL',
      bandwidth_gb: plan.bandwidth,
      network_mbps: plan.networkSpeed,
      throttle_mbps: plan.throttleMbps,
      disk_iops: plan.diskIops ?? null,
      disk_mib_per_second: plan.diskMiBPerSecond ?? null,
      dedicated_cpu: plan.dedicatedCpu ?? false,
      traits: plan.traits ?? [],
      price_cents: parseCents(plan.priceMonthly),
      is_default: plan.default ?? false,
      region_slugs: plan.regions ?? null,
    })
  }
  for (const [i, template] of catalog.osTemplates.entries()) {
    const arch = template.arch ?? nativeArch()
    await sql.insertTemplate(tx, {
      ...row(i, template.available),
      slug: template.slug,
      name: template.name,
      version: template.version,
      distribution: template.distribution,
      arch,
      min_disk_gib: template.minDisk,
      min_ram_mib: template.minRam,
      default_user: template.defaultUser,
      cloud_init: template.cloudInit,
      has_agent: template.hasAgent,
      firmware: arch === 'x86_64' ? (template.firmware ?? null) : null,
      tpm: template.tpm ?? false,
      size_bytes: 0n,
      checksum: '',
      virtual_bytes: 0n,
      recipe: template.recipe ?? null,
      image_url: template.urls?.[arch] ?? null,
      origin: '',
      imported_at: null,
    })
  }
  // A catalog written for an older release lacks newer names.
  const shipped = readCatalog(null)
  for (const [name, price] of Object.entries({ ...shipped.prices, ...catalog.prices }))
    await sql.insertNumber(tx, `price.${name}`, parseCents(price))
  for (const [name, value] of Object.entries({ ...shipped.numbers, ...catalog.numbers })) await sql.insertNumber(tx, name, BigInt(value))
}
