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

/** Of an image that VMs in the storage backend are made from; once. */
export async function reserveImage(tx: Tx, imageId: string, id: string, gib: number): Promise<boolean> {
  const isNew = await tx.run(
    sql`insert into image_storage_rooms (image_id, storage_id, gib) values (${imageId}, ${id}, ${gib}) on conflict do nothing`,
  )
  return isNew === 0 || reserve(tx, id, gib)
}

export async function releaseImage(tx: Tx, imageId: string, id: string): Promise<void> {
  const room = await tx.maybe<{ gib: number }>(
    sql`delete from image_storage_rooms where image_id = ${imageId} and storage_id = ${id} returning gib`,
  )
  if (room) await release(tx, id, room.gib)
}

/**
 * Books what VMs of a release that did not book it are made from, full or not: it is there already. That release noted their hosts instead,
 * any of whose storage backends may have the image.
 */
export async function bookUncountedImages(tx: Tx): Promise<void> {
  await tx.run(sql`
    with uncounted as (delete from image_rooms where gib = 0 returning image_id, host_id),
      booked as (
        insert into image_storage_rooms (image_id, storage_id, gib)
        select distinct u.image_id, s.id, greatest(1, ceil(i.size_bytes / 1073741824.0))::int
        from uncounted u join images i on i.id = u.image_id join hosts h on h.id = u.host_id join storage_backends s on s.region_id = h.region_id
        order by 2, 1 on conflict do nothing returning storage_id, gib)
    update storage_backends s set used_gib = s.used_gib + b.gib from (select storage_id, sum(gib) as gib from booked group by 1) b where b.storage_id = s.id`)
}

export const imageRooms = (db: Queries, imageId: string) =>
  db.many<StorageBackendRow>(sql`
    select ${allColumns('storage_backends', 's')} from storage_backends s join image_storage_rooms r on r.storage_id = s.id
    where r.image_id = ${imageId} order by s.id`)

export const countUses = (db: Queries, id: string) =>
  db.one<{ vms: number; snapshots: number; volumes: number; images: number }>(sql`
    select (select count(*)::int from vms where storage_id = ${id}) as vms, (select count(*)::int from snapshots where storage_id = ${id}) as snapshots,
      (select count(*)::int from volumes where storage_id = ${id}) as volumes, (select count(*)::int from image_storage_rooms where storage_id = ${id}) as images`)

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
