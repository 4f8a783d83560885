import { json, sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { selectedBy } from '../labels/service.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type VolumeSnapshotRow = Row<'volume_snapshots'>

export type NewVolumeSnapshot = Pick<
  VolumeSnapshotRow,
  'id' | 'volume_id' | 'name' | 'description' | 'labels' | 'size_gib' | 'counted_gib' | 'created_at'
>

export const insertSnapshot = (tx: Tx, row: NewVolumeSnapshot) =>
  tx.one<VolumeSnapshotRow>(sql`
    insert into volume_snapshots (id, volume_id, name, description, labels, size_gib, counted_gib, created_at)
    values (${row.id}, ${row.volume_id}, ${row.name}, ${row.description}, ${json(row.labels)}, ${row.size_gib}, ${row.counted_gib}, ${row.created_at})
    returning ${allColumns('volume_snapshots')}`)

export const findSnapshot = (db: Queries, volumeId: string, id: string) =>
  db.maybe<VolumeSnapshotRow>(
    sql`select ${allColumns('volume_snapshots')} from volume_snapshots where id = ${id} and volume_id = ${volumeId}`,
  )

const listed = (volumeId: string, labelSelector: string | undefined) =>
  sql`volume_id = ${volumeId} ${selectedBy(sql`labels`, labelSelector)}`

export const listSnapshots = (db: Queries, volumeId: string, labelSelector: string | undefined, range: PageRange) =>
  db.many<VolumeSnapshotRow>(
    sql`select ${allColumns('volume_snapshots')} from volume_snapshots where ${listed(volumeId, labelSelector)} ${newestFirst(sql`id`, range)}`,
  )

export const countSnapshots = async (db: Queries, volumeId: string, labelSelector?: string): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from volume_snapshots where ${listed(volumeId, labelSelector)}`)).count)

export const lockSnapshot = (tx: Tx, volumeId: string, id: string) =>
  tx.maybe<VolumeSnapshotRow>(
    sql`select ${allColumns('volume_snapshots')} from volume_snapshots where id = ${id} and volume_id = ${volumeId} for no key update`,
  )

/** Of a locked row. */
export const describeSnapshot = (
  tx: Tx,
  { id, name, description, labels }: Pick<VolumeSnapshotRow, 'id' | 'name' | 'description' | 'labels'>,
) =>
  tx.one<VolumeSnapshotRow>(sql`
    update volume_snapshots set name = ${name}, description = ${description}, labels = ${json(labels)} where id = ${id}
    returning ${allColumns('volume_snapshots')}`)

export const setStatus = (tx: Tx, id: string, status: VolumeSnapshotRow['status']) =>
  tx.one<VolumeSnapshotRow>(
    sql`update volume_snapshots set status = ${status} where id = ${id} returning ${allColumns('volume_snapshots')}`,
  )

export const markTaken = (tx: Tx, now: Date, id: string, sizeBytes: number) =>
  tx.one<VolumeSnapshotRow>(sql`
    update volume_snapshots set status = 'AVAILABLE', size_bytes = ${sizeBytes}, size_refreshed_at = ${now} where id = ${id}
    returning ${allColumns('volume_snapshots')}`)

export const setPrice = (tx: Tx, id: string, cents: bigint) =>
  tx.run(sql`update volume_snapshots set price_cents = ${cents} where id = ${id}`)

/** It has no data, counts no longer and costs nothing. Returns what it took. */
export const markFailed = (tx: Tx, id: string) =>
  tx.one<VolumeSnapshotRow>(sql`
    with held as (select ${allColumns('volume_snapshots')} from volume_snapshots where id = ${id} for update),
      failed as (update volume_snapshots s set status = 'FAILED', size_bytes = 0, size_refreshed_at = null, counted_gib = 0, price_cents = 0,
        missing_since = null from held where s.id = held.id)
    select ${allColumns('volume_snapshots', 'held')} from held`)

export const deleteSnapshot = (tx: Tx, id: string) =>
  tx.one<VolumeSnapshotRow>(sql`delete from volume_snapshots where id = ${id} returning ${allColumns('volume_snapshots')}`)

const onHost = (hostId: string) => sql`
  o.id = s.volume_id and o.host_id = ${hostId} and o.run_id is null and o.deleted_at is null and s.status = 'AVAILABLE'`
const isMissing = (present: string[]) => sql`not exists (select from unnest(${present}::text[]) as p(id) where p.id = s.id)`

/** Those that a listing of the host did not show now nor before `before`. */
export const missingSnapshots = (db: Queries, hostId: string, present: string[], before: Date) =>
  db.many<Pick<VolumeSnapshotRow, 'id' | 'volume_id'>>(sql`
    select s.id, s.volume_id from volume_snapshots s, volumes o where ${onHost(hostId)} and ${isMissing(present)} and s.missing_since <= ${before}
    order by s.volume_id, s.id`)

export const recordMissing = (tx: Tx, now: Date, hostId: string, present: string[]) =>
  tx.run(sql`
    update volume_snapshots s set missing_since = case when ${isMissing(present)} then ${now}::timestamptz end
    from volumes o where ${onHost(hostId)} and (s.missing_since is null) = ${isMissing(present)}`)
