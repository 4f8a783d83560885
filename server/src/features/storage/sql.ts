import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type StorageBackendRow = Row<'storage_backends'>

export const listBackends = (db: Queries) =>
  db.many<StorageBackendRow & { region_slug: string }>(sql`
    select ${allColumns('storage_backends', 's')}, r.slug as region_slug
    from storage_backends s join regions r on r.id = s.region_id order by s.name`)

/** By id or name. */
export const findBackend = (db: Queries, key: string) =>
  db.maybe<StorageBackendRow>(sql`select ${allColumns('storage_backends')} from storage_backends where id = ${key} or name = ${key}`)

/** Only of the kind that real hosts use. */
export const backendsOfHost = (db: Queries, hostId: string) =>
  db.many<StorageBackendRow>(sql`
    select ${allColumns('storage_backends', 's')} from storage_backends s join hosts h on h.region_id = s.region_id
    where h.id = ${hostId} and s.kind = 'RBD' order by s.name`)

/** The least booked first. */
export const backendsIn = (db: Queries, regionId: string, kind: StorageBackendRow['kind']) =>
  db.many<StorageBackendRow>(sql`
    select ${allColumns('storage_backends')} from storage_backends where region_id = ${regionId} and kind = ${kind}
    order by used_gib::real / greatest(capacity_gib, 1), name`)

/** Below the reserve, booked or measured, nothing new is written. Null, of one that was never measured, is no room. */
const hasRoom = (gib: number): Sql =>
  sql`used_gib + ${gib} <= capacity_gib - reserve_gib and free_gib >= reserve_gib and unreachable_since is null`

export const reserve = async (tx: Tx, id: string, gib: number): Promise<boolean> =>
  (await tx.run(sql`update storage_backends set used_gib = used_gib + ${gib} where id = ${id} and (${gib} <= 0 or (${hasRoom(gib)}))`)) > 0

export const canReserve = async (db: Queries, id: string, gib: number): Promise<boolean> =>
  (await db.maybe(sql`select id from storage_backends where id = ${id} and ${hasRoom(gib)}`)) !== undefined

/** What a restore takes for a time is taken from what is free above the reserve, and not only from what is for sale. Of that, other restores have booked some and not yet
 *  written it. */
export const reserveForATime = async (tx: Tx, id: string, gib: number): Promise<boolean> =>
  (await tx.run(sql`
    update storage_backends set used_gib = used_gib + ${gib}
    where id = ${id} and free_gib - reserve_gib - restoring_gib >= ${gib} and unreachable_since is null`)) > 0

export const release = (tx: Tx, id: string, gib: number) =>
  tx.run(sql`update storage_backends set used_gib = used_gib - ${gib} where id = ${id}`)

export const countUses = (db: Queries, id: string) =>
  db.one<{ vms: number; snapshots: number; volumes: number }>(sql`
    select (select count(*)::int from vms where storage_id = ${id}) as vms, (select count(*)::int from snapshots where storage_id = ${id}) as snapshots,
      (select count(*)::int from volumes where storage_id = ${id}) as volumes`)

/** Those that the VM's machine on this host is to be defined with. */
export const volumesOnMachine = (db: Queries, vmId: string, hostId: string | null) =>
  db.many<{ id: string; generation: number; size_gib: number; storage_id: string | null }>(sql`
    select id, generation, size_gib, storage_id from volumes where vm_id = ${vmId} and vm_host_id = ${hostId} and status in ('ATTACHING', 'ATTACHED') order by id`)

/** They are detached from a VM whose machine on that host may still write to them. */
export const leaveVolumes = (tx: Tx, now: Date, vmId: string, hostId: string) =>
  tx.run(sql`
    update volumes set vm_id = null, vm_host_id = null, status = 'AVAILABLE', run_id = null, left_vm_id = ${vmId}, left_host_id = ${hostId},
      updated_at = ${now}
    where vm_id = ${vmId} and vm_host_id = ${hostId}`)

/** To the machine on another host; those in storage backends only. */
export const moveVolumes = (tx: Tx, now: Date, vmId: string, from: string, to: string) =>
  tx.run(sql`
    update volumes set vm_host_id = ${to}, updated_at = ${now} where vm_id = ${vmId} and vm_host_id = ${from} and storage_id is not null`)

type NewBackend = Omit<
  StorageBackendRow,
  'used_gib' | 'restoring_gib' | 'reserve_gib' | 'capacity_gib' | 'free_gib' | 'measured_at' | 'unreachable_since'
>

export const insertBackend = (tx: Tx, row: NewBackend) =>
  tx.run(sql`
    insert into storage_backends (id, region_id, name, kind, monitors, pool, user_name, sealed_key, reserve_percent, created_at)
    values (${row.id}, ${row.region_id}, ${row.name}, ${row.kind}, ${row.monitors}, ${row.pool}, ${row.user_name}, ${row.sealed_key}, ${row.reserve_percent},
      ${row.created_at})
    on conflict (name) do nothing`)

export const updateBackend = (tx: Tx, row: StorageBackendRow) =>
  tx.run(sql`
    update storage_backends set monitors = ${row.monitors}, user_name = ${row.user_name}, sealed_key = ${row.sealed_key},
      reserve_percent = ${row.reserve_percent}
    where id = ${row.id}`)

export const deleteBackend = (tx: Tx, id: string) => tx.run(sql`delete from storage_backends where id = ${id}`)

export const recordSpace = (db: Queries, id: string, now: Date, space: { capacityGiB: number; freeGiB: number }) =>
  db.run(sql`
    update storage_backends set capacity_gib = ${space.capacityGiB}, free_gib = ${space.freeGiB}, measured_at = ${now}, unreachable_since = null
    where id = ${id}`)

export const markUnreachable = (db: Queries, id: string, now: Date) =>
  db.run(sql`update storage_backends set unreachable_since = coalesce(unreachable_since, ${now}) where id = ${id}`)
