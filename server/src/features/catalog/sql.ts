import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { isOpen } from '../../workflow/run-store.ts'

export type RegionRow = Row<'regions'>

export type PlanRow = Row<'plans'>

export type TemplateRow = Row<'os_templates'> & { lacks_image: boolean }

/** The rest is for operators. */
export type ShownRegion = Omit<RegionRow, 'network_controller' | 'lost_after_seconds' | 'auto_recovery'>

export const insertRegion = (tx: Tx, row: ShownRegion) =>
  tx.run(sql`
    insert into regions (id, slug, name, country, city, flag, available, position, created_at)
    values (${row.id}, ${row.slug}, ${row.name}, ${row.country}, ${row.city}, ${row.flag}, ${row.available}, ${row.position}, ${row.created_at})
    on conflict (slug) do nothing`)

export const updateRegion = (tx: Tx, row: RegionRow) =>
  tx.run(sql`
    update regions set name = ${row.name}, country = ${row.country}, city = ${row.city}, flag = ${row.flag}, available = ${row.available}
    where id = ${row.id}`)

export const setRecovery = (
  tx: Tx,
  id: string,
  { lost_after_seconds, auto_recovery }: Pick<RegionRow, 'lost_after_seconds' | 'auto_recovery'>,
) => tx.run(sql`update regions set lost_after_seconds = ${lost_after_seconds}, auto_recovery = ${auto_recovery} where id = ${id}`)

export const insertPlan = (tx: Tx, row: PlanRow) =>
  tx.run(sql`
    insert into plans (id, slug, name, vcpu, ram_mib, disk_gib, storage, bandwidth_gb, network_mbps, throttle_mbps, disk_iops,
      disk_mib_per_second, dedicated_cpu, traits, price_cents, available, is_default, region_slugs, position, created_at)
    values (${row.id}, ${row.slug}, ${row.name}, ${row.vcpu}, ${row.ram_mib}, ${row.disk_gib}, ${row.storage}, ${row.bandwidth_gb}, ${row.network_mbps},
      ${row.throttle_mbps}, ${row.disk_iops}, ${row.disk_mib_per_second}, ${row.dedicated_cpu}, ${row.traits}, ${row.price_cents}, ${row.available}, ${row.is_default} and not exists (select from plans where is_default),
      ${row.region_slugs}, ${row.position}, ${row.created_at})
    on conflict (slug) do nothing`)

export type NewTemplate = Omit<TemplateRow, 'lacks_image' | 'deprecated_at' | 'account_id' | 'guest_types'> &
  Partial<Pick<TemplateRow, 'account_id'>>

export const insertTemplate = (tx: Tx, row: NewTemplate) =>
  tx.run(sql`
    insert into os_templates (id, slug, name, version, distribution, arch, min_disk_gib, min_ram_mib, default_user, cloud_init, has_agent, firmware, tpm,
      size_bytes, checksum, virtual_bytes, recipe, image_url, origin, imported_at, available, position, account_id, created_at)
    values (${row.id}, ${row.slug}, ${row.name}, ${row.version}, ${row.distribution}, ${row.arch}, ${row.min_disk_gib}, ${row.min_ram_mib},
      ${row.default_user}, ${row.cloud_init}, ${row.has_agent}, ${row.firmware}, ${row.tpm}, ${row.size_bytes}, ${row.checksum}, ${row.virtual_bytes}, ${row.recipe},
      ${row.image_url}, ${row.origin}, ${row.imported_at}, ${row.available}, ${row.position}, ${row.account_id ?? null}, ${row.created_at})
    on conflict (slug) do nothing`)

export const insertNumber = (tx: Tx, name: string, value: bigint) =>
  tx.run(sql`insert into catalog_values (name, value) values (${name}, ${value}) on conflict (name) do nothing`)

export const listRegions = (db: Queries) => db.many<RegionRow>(sql`select ${allColumns('regions')} from regions order by position, slug`)

/** By id or slug. */
export const findRegion = (db: Queries, key: string) =>
  db.maybe<RegionRow>(sql`select ${allColumns('regions')} from regions where id = ${key} or slug = ${key}`)

export const listPlans = (db: Queries) => db.many<PlanRow>(sql`select ${allColumns('plans')} from plans order by position, slug`)

/** Hosts of the region `r` have their disks in the storage backend `s`: simulated hosts in simulated ones. */
const isReached = sql`s.region_id = r.id and s.kind = case when r.network_controller is null then 'SIMULATED' else 'RBD' end`

export const regionsWithStorage = async (db: Queries): Promise<string[]> =>
  (await db.many<{ slug: string }>(sql`select r.slug from regions r where exists (select from storage_backends s where ${isReached})`)).map(
    ({ slug }) => slug,
  )

/** How many dedicated CPUs of one NUMA node the host `h` has. */
const largestNode = sql`select max(n.cpus) from (
  select count(*) as cpus from unnest(h.dedicated_cpus) as d (cpu) group by coalesce(h.cpu_nodes[d.cpu + 1], 0)) n`

/** `has_host`: a host of its regions that take VMs is large enough and has its traits, full or not, and so is a storage backend where the plan needs one. */
export const listOfferedPlans = (db: Queries) =>
  db.many<PlanRow & { has_host: boolean }>(sql`
    select ${allColumns('plans', 'p')}, exists (
      select from hosts h join regions r on r.id = h.region_id
      where h.removed_at is null and r.available and (p.region_slugs is null or r.slug = any(p.region_slugs)) and p.traits <@ h.all_traits
        and p.vcpu <= case when p.dedicated_cpu then (${largestNode}) else h.vcpu_sellable end and p.ram_mib <= h.ram_sellable_mib and p.disk_gib <= case p.storage when 'LOCAL' then h.disk_total_gib else (
          select max(s.capacity_gib - s.reserve_gib) from storage_backends s where ${isReached}) end) as has_host
    from plans p order by p.position, p.slug`)

export const plansSoldIn = (db: Queries, regionSlug: string) =>
  db.many<Pick<PlanRow, 'vcpu' | 'ram_mib' | 'disk_gib' | 'storage' | 'dedicated_cpu' | 'traits'>>(sql`
    select vcpu, ram_mib, disk_gib, storage, dedicated_cpu, traits from plans where available and (region_slugs is null or ${regionSlug} = any(region_slugs))`)

export const findPlan = (db: Queries, key: string) =>
  db.maybe<PlanRow>(sql`select ${allColumns('plans')} from plans where id = ${key} or slug = ${key}`)

export const findDefaultPlan = (db: Queries) => db.maybe<PlanRow>(sql`select ${allColumns('plans')} from plans where is_default`)

export const updatePlan = (tx: Tx, row: PlanRow) =>
  tx.run(sql`
    update plans set name = ${row.name}, vcpu = ${row.vcpu}, ram_mib = ${row.ram_mib}, disk_gib = ${row.disk_gib}, bandwidth_gb = ${row.bandwidth_gb},
      network_mbps = ${row.network_mbps}, throttle_mbps = ${row.throttle_mbps}, disk_iops = ${row.disk_iops},
      disk_mib_per_second = ${row.disk_mib_per_second}, dedicated_cpu = ${row.dedicated_cpu}, traits = ${row.traits}, price_cents = ${row.price_cents},
      available = ${row.available}
    where id = ${row.id}`)

/** Simulated hosts boot any template; real hosts need an image. */
const templates = sql`
  select t.id, t.slug, t.name, t.version, t.distribution, t.arch, t.min_disk_gib, t.min_ram_mib, t.default_user, t.cloud_init, t.has_agent, t.firmware, t.tpm, t.guest_types,
    t.size_bytes, t.checksum, t.virtual_bytes, t.recipe, t.image_url, t.origin, t.imported_at, t.deprecated_at, t.position, t.created_at, t.account_id,
    t.available and not l.lacks_image as available, l.lacks_image
  from os_templates t, lateral (select t.checksum = '' and exists (select from hosts where driver = 'libvirt' and removed_at is null) as lacks_image) l`

/** Not those that are images of accounts. */
const isPublic = sql`t.account_id is null`

export const listTemplates = (db: Queries) => db.many<TemplateRow>(sql`${templates} where ${isPublic} order by t.position, t.slug`)

export const findTemplate = (db: Queries, key: string) =>
  db.maybe<TemplateRow>(sql`${templates} where (t.id = ${key} or t.slug = ${key}) and ${isPublic}`)

/** That of this slug, or its twin for another architecture. */
export const findTemplateOfArch = (db: Queries, slug: string, arch: string) =>
  db.maybe<TemplateRow>(sql`
    ${templates} where t.slug in (${slug}, ${`${slug}-${arch.replaceAll('_', '-')}`}) and t.arch = ${arch} and ${isPublic} order by t.slug limit 1`)

/** One of those that have this image. */
export const findTemplateByChecksum = (db: Queries, checksum: string) =>
  db.maybe<TemplateRow>(sql`${templates} where t.checksum = ${checksum} and ${isPublic} limit 1`)

export const templateById = (db: Queries, id: string) => db.maybe<TemplateRow>(sql`${templates} where t.id = ${id}`)

/** An image of the account stays until the transaction ends. */
export async function holdTemplateOf(tx: Tx, accountId: string, key: string): Promise<TemplateRow | undefined> {
  const find = () =>
    tx.maybe<TemplateRow>(
      sql`${templates} where (${isPublic} and t.slug = ${key}) or (t.id = ${key} and (${isPublic} or t.account_id = ${accountId}))`,
    )
  const row = await find()
  if (!row || row.account_id === null) return row
  const lock = tx.run(sql`select from os_templates where id = ${row.id} for share`)
  return (await Promise.all([lock, find()]))[1]
}

/** Its name, where the account has an ISO image with this id. */
export const findIsoName = async (db: Queries, accountId: string, id: string): Promise<string | undefined> =>
  (await db.maybe<{ name: string }>(sql`select name from images where id = ${id} and account_id = ${accountId} and kind = 'ISO'`))?.name

export const setOwnTemplate = (tx: Tx, id: string, { name, available }: Pick<TemplateRow, 'name' | 'available'>) =>
  tx.run(sql`update os_templates set name = ${name}, available = ${available} where id = ${id} and account_id is not null`)

export interface TemplateImage {
  checksum: string
  size_bytes: bigint
  virtual_bytes: bigint
  origin: string
}

export const setImage = (tx: Tx, id: string, now: Date, image: TemplateImage) =>
  tx.run(sql`
    update os_templates set checksum = ${image.checksum}, size_bytes = ${image.size_bytes}, virtual_bytes = ${image.virtual_bytes},
      origin = ${image.origin}, imported_at = ${now}, deprecated_at = null, available = true,
      min_disk_gib = greatest(min_disk_gib, ${Math.ceil(Number(image.virtual_bytes) / 1024 ** 3)})
    where id = ${id}`)

/** Existing VMs keep the template, new VMs cannot use it, and its slug becomes free. */
export const retireTemplate = (tx: Tx, id: string, slug: string, now: Date) =>
  tx.run(sql`update os_templates set slug = ${slug}, available = false, deprecated_at = ${now} where id = ${id}`)

export const deleteTemplate = (tx: Tx, id: string) => tx.run(sql`delete from os_templates where id = ${id}`)

export interface TemplateUse {
  vms: bigint
  copies: bigint
}

/** Locks the template against new uses until the transaction ends. A VM that is being rebuilt from it has its old one until then. */
export async function lockTemplateUse(tx: Tx, id: string): Promise<TemplateUse> {
  await tx.run(sql`select from os_templates where id = ${id} for update`)
  return tx.one<TemplateUse>(sql`
    select (select count(*) from vms where os_template_id = ${id})
        + (select count(*) from vm_rescues where template_id = ${id})
        + (select count(*) from vm_isos where image_id = ${id})
        + (select count(*) from workflow_runs r where ${isOpen} and r.input ->> 'templateId' = ${id}) as vms,
      (select count(*) from snapshots where os_template_id = ${id}) + (select count(*) from backups where os_template_id = ${id}) as copies`)
}

export const listNumbers = (db: Queries) => db.many<{ name: string; value: bigint }>(sql`select name, value from catalog_values`)
