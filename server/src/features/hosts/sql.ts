import { sql, type Queries, type Tx } from '../../kernel/db.ts'

export interface HostRow {
  id: string
  region_id: string
  name: string
  driver: 'libvirt' | 'simulated'
  uri: string
  vcpu_total: number
  ram_total_mib: number
  disk_total_gib: number
  vcpu_overcommit: number
  vcpu_used: number
  ram_used_mib: number
  disk_used_gib: number
  maintenance: boolean
  last_seen_at: Date | null
  unreachable_since: Date | null
  reachable_since: Date | null
  created_at: Date
}

export type NewHost = Pick<
  HostRow,
  'id' | 'region_id' | 'name' | 'driver' | 'uri' | 'vcpu_total' | 'ram_total_mib' | 'disk_total_gib' | 'created_at'
>

export const insertHost = (tx: Tx, row: NewHost) =>
  tx.run(sql`
    insert into hosts (id, region_id, name, driver, uri, vcpu_total, ram_total_mib, disk_total_gib, created_at)
    values (${row.id}, ${row.region_id}, ${row.name}, ${row.driver}, ${row.uri}, ${row.vcpu_total}, ${row.ram_total_mib}, ${row.disk_total_gib}, ${row.created_at})
    on conflict (name) do nothing`)

export const listHosts = (db: Queries) =>
  db.many<HostRow & { region_slug: string }>(
    sql`select h.*, r.slug as region_slug from hosts h join regions r on r.id = h.region_id order by h.name`,
  )

export const listHostsIn = (db: Queries, regionId: string) =>
  db.many<HostRow>(sql`select * from hosts where region_id = ${regionId} order by name`)

export const findHost = (db: Queries, idOrName: string) =>
  db.maybe<HostRow>(sql`select * from hosts where id = ${idOrName} or name = ${idOrName}`)
