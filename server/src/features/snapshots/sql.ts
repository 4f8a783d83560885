import { json, sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { selectedBy } from '../labels/service.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import type { CountedCopy } from '../vms/service.ts'
import type { SnapshotStatus } from './schema.ts'

export type SnapshotRow = Row<'snapshots'>

export type NewSnapshot = Omit<SnapshotRow, 'status' | 'size_bytes' | 'size_refreshed_at' | 'missing_since' | 'price_cents'>

export const insertSnapshot = (tx: Tx, row: NewSnapshot) =>
  tx.one<SnapshotRow>(sql`
    insert into snapshots (id, vm_id, account_id, os_template_id, name, description, labels, host_id, storage_id, counted_gib, created_at)
    values (${row.id}, ${row.vm_id}, ${row.account_id}, ${row.os_template_id}, ${row.name}, ${row.description}, ${json(row.labels)}, ${row.host_id},
      ${row.storage_id}, ${row.counted_gib}, ${row.created_at})
    returning ${allColumns('snapshots')}`)

export const findSnapshot = (db: Queries, vmId: string, id: string) =>
  db.maybe<SnapshotRow>(sql`select ${allColumns('snapshots')} from snapshots where id = ${id} and vm_id = ${vmId}`)

export const lockSnapshot = (tx: Tx, vmId: string, id: string) =>
  tx.maybe<SnapshotRow>(sql`select ${allColumns('snapshots')} from snapshots where id = ${id} and vm_id = ${vmId} for no key update`)

export const findOwnSnapshot = (db: Queries, accountId: string, id: string) =>
  db.maybe<SnapshotRow>(sql`select ${allColumns('snapshots')} from snapshots where id = ${id} and account_id = ${accountId}`)

const listed = (vmId: string, labelSelector: string | undefined) => sql`vm_id = ${vmId} ${selectedBy(sql`labels`, labelSelector)}`

export const listSnapshots = (db: Queries, vmId: string, labelSelector: string | undefined, range: PageRange) =>
  db.many<SnapshotRow>(
    sql`select ${allColumns('snapshots')} from snapshots where ${listed(vmId, labelSelector)} ${newestFirst(sql`id`, range)}`,
  )

export const countSnapshots = async (db: Queries, vmId: string, labelSelector?: string): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from snapshots where ${listed(vmId, labelSelector)}`)).count)

/** Of a locked row. */
export const describeSnapshot = (tx: Tx, { id, name, description, labels }: Pick<SnapshotRow, 'id' | 'name' | 'description' | 'labels'>) =>
  tx.one<SnapshotRow>(sql`
    update snapshots set name = ${name}, description = ${description}, labels = ${json(labels)} where id = ${id} returning ${allColumns('snapshots')}`)

export const setStatus = (tx: Tx, id: string, status: SnapshotStatus) =>
  tx.one<SnapshotRow>(sql`update snapshots set status = ${status} where id = ${id} returning ${allColumns('snapshots')}`)

export const markTaken = (tx: Tx, now: Date, id: string, sizeBytes: number) =>
  tx.one<SnapshotRow>(sql`
    update snapshots set status = 'AVAILABLE', size_bytes = ${sizeBytes}, size_refreshed_at = ${now} where id = ${id} returning ${allColumns('snapshots')}`)

export const setPrice = (tx: Tx, id: string, cents: bigint) => tx.run(sql`update snapshots set price_cents = ${cents} where id = ${id}`)

/** A failed snapshot has no data, so its size is 0. */
export const markFailed = (tx: Tx, id: string) =>
  tx.run(sql`update snapshots set status = 'FAILED', size_bytes = 0, size_refreshed_at = null where id = ${id}`)

/** For snapshots on a lost host. */
export const markAllFailed = (tx: Tx, vmId: string) =>
  tx.run(sql`update snapshots set status = 'FAILED', size_bytes = 0, size_refreshed_at = null where vm_id = ${vmId}`)

/** The snapshots count no longer; returns what they took. */
const uncount = (tx: Tx, which: Sql) =>
  tx.many<CountedCopy>(sql`
    with held as (select ${allColumns('snapshots')} from snapshots where ${which} and (counted_gib > 0 or price_cents > 0) order by id for no key update)
    update snapshots s set counted_gib = 0, price_cents = 0 from held where s.id = held.id
    returning held.vm_id, held.account_id, held.counted_gib, held.counted_gib as quota_gib, held.price_cents,
      array_remove(array[held.host_id], null) as host_ids, held.storage_id`)

export const uncountSnapshots = (tx: Tx, ids: string[]) => uncount(tx, sql`id = any(${ids}::text[])`)
export const uncountOfVm = (tx: Tx, vmId: string) => uncount(tx, sql`vm_id = ${vmId}`)

export const deleteSnapshot = (tx: Tx, id: string) =>
  tx.one<SnapshotRow>(sql`delete from snapshots where id = ${id} returning ${allColumns('snapshots')}`)
