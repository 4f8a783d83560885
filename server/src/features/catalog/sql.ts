import { sql, type Queries, type Tx } from '../../kernel/db.ts'

export interface RegionRow {
  id: string
  slug: string
  name: string
  country: string
  city: string
  flag: string
  available: boolean
  position: number
  created_at: Date
}

export interface PlanRow {
  id: string
  slug: string
  name: string
  vcpu: number
  ram_mib: number
  disk_gib: number
  bandwidth_gb: number
  network_mbps: number
  throttle_mbps: number
  price_cents: bigint
  available: boolean
  is_default: boolean
  /** null = sold everywhere. */
  region_slugs: string[] | null
  position: number
  created_at: Date
}

export interface TemplateRow {
  id: string
  slug: string
  name: string
  version: string
  distribution: string
  arch: string
  min_disk_gib: number
  min_ram_mib: number
  default_user: string
  cloud_init: boolean
  has_agent: boolean
  size_bytes: bigint
  checksum: string
  available: boolean
  deprecated_at: Date | null
  position: number
  created_at: Date
}

export const insertRegion = (tx: Tx, row: RegionRow) =>
  tx.run(sql`
    insert into regions (id, slug, name, country, city, flag, available, position, created_at)
    values (${row.id}, ${row.slug}, ${row.name}, ${row.country}, ${row.city}, ${row.flag}, ${row.available}, ${row.position}, ${row.created_at})
    on conflict (slug) do nothing`)

export const insertPlan = (tx: Tx, row: PlanRow) =>
  tx.run(sql`
    insert into plans (id, slug, name, vcpu, ram_mib, disk_gib, bandwidth_gb, network_mbps, throttle_mbps, price_cents, available,
      is_default, region_slugs, position, created_at)
    values (${row.id}, ${row.slug}, ${row.name}, ${row.vcpu}, ${row.ram_mib}, ${row.disk_gib}, ${row.bandwidth_gb}, ${row.network_mbps},
      ${row.throttle_mbps}, ${row.price_cents}, ${row.available}, ${row.is_default} and not exists (select from plans where is_default),
      ${row.region_slugs}, ${row.position}, ${row.created_at})
    on conflict (slug) do nothing`)

export const insertTemplate = (tx: Tx, row: TemplateRow) =>
  tx.run(sql`
    insert into os_templates (id, slug, name, version, distribution, arch, min_disk_gib, min_ram_mib, default_user, cloud_init, has_agent,
      size_bytes, checksum, available, position, created_at)
    values (${row.id}, ${row.slug}, ${row.name}, ${row.version}, ${row.distribution}, ${row.arch}, ${row.min_disk_gib}, ${row.min_ram_mib},
      ${row.default_user}, ${row.cloud_init}, ${row.has_agent}, ${row.size_bytes}, ${row.checksum}, ${row.available}, ${row.position}, ${row.created_at})
    on conflict (slug) do nothing`)

export const insertNumber = (tx: Tx, name: string, value: bigint) =>
  tx.run(sql`insert into catalog_numbers (name, value) values (${name}, ${value}) on conflict (name) do nothing`)

export const listRegions = (db: Queries) => db.many<RegionRow>(sql`select * from regions order by position, slug`)

/** By id or by slug. */
export const findRegion = (db: Queries, key: string) => db.maybe<RegionRow>(sql`select * from regions where id = ${key} or slug = ${key}`)

export const listPlans = (db: Queries) => db.many<PlanRow>(sql`select * from plans order by position, slug`)

export const findPlan = (db: Queries, key: string) => db.maybe<PlanRow>(sql`select * from plans where id = ${key} or slug = ${key}`)

export const findDefaultPlan = (db: Queries) => db.maybe<PlanRow>(sql`select * from plans where is_default`)

export const updatePlan = (tx: Tx, row: PlanRow) =>
  tx.run(sql`
    update plans set name = ${row.name}, vcpu = ${row.vcpu}, ram_mib = ${row.ram_mib}, disk_gib = ${row.disk_gib}, bandwidth_gb = ${row.bandwidth_gb},
      network_mbps = ${row.network_mbps}, throttle_mbps = ${row.throttle_mbps}, price_cents = ${row.price_cents}, available = ${row.available}
    where id = ${row.id}`)

export const listTemplates = (db: Queries) => db.many<TemplateRow>(sql`select * from os_templates order by position, slug`)

export const findTemplate = (db: Queries, key: string) =>
  db.maybe<TemplateRow>(sql`select * from os_templates where id = ${key} or slug = ${key}`)

export const listNumbers = (db: Queries) => db.many<{ name: string; value: bigint }>(sql`select name, value from catalog_numbers`)
