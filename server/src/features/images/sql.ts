import type { Consistency } from '../../hypervisor/driver.ts'
import type { SortField } from '../../http/api/schema.ts'
import { json, sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { containing, sortedByAge, sortedByNumber, sortedByText, type SortedRange } from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { isOpen } from '../../workflow/run-store.ts'
import { selectedBy } from '../labels/service.ts'
import { isSuspended, payerOf, payingTogether, type KeptGib } from '../accounts/service.ts'
import { paid, unpaid, type Deadlines, type Period } from '../renewals/service.ts'
import type { ImageQuery } from './schema.ts'

export type ImageRow = Row<'images'>

export interface ShownImage extends ImageRow {
  arch: string | null
  default_user: string | null
  renewal_price_cents: bigint
  locked_until: Date | null
}

/** It is paid for. */
export type AvailableImage = ShownImage & {
  renewal_day: number
  period_started_at: Date
  period_price_cents: bigint
  next_renewal_at: Date
}

/** Its period is set before. */
export const isAvailable = (row: ShownImage): row is AvailableImage => row.status === 'AVAILABLE'

/** Of the row of `images` with the alias `i`. */
export const IMAGE_RENEWAL_PRICE = sql`(i.counted_gib * (select value from catalog_values where name = 'price.image_gib'))`

/** Locks are renewed when half of their days have passed. Chunks are locked for up to twice as long as manifests. */
const lockedUntil = sql`(select max(coalesce(c.renew_at - o.lock_days * interval '12 hours', i.updated_at) + o.lock_days * interval '2 days')
  from image_copies c join backup_targets o on o.id = c.target_id where c.image_id = i.id and i.status = 'DELETING')`

const shown = sql`${allColumns('images', 'i')}, t.arch, t.default_user, ${IMAGE_RENEWAL_PRICE} as renewal_price_cents, ${lockedUntil} as locked_until`
const from = sql`images i left join os_templates t on t.id = i.id`

export type NewImage = Pick<
  ImageRow,
  | 'id'
  | 'account_id'
  | 'name'
  | 'labels'
  | 'kind'
  | 'source_type'
  | 'source'
  | 'vm_id'
  | 'run_id'
  | 'counted_gib'
  | 'staging_host_id'
  | 'staging_gib'
  | 'created_at'
>

export const insertImage = (tx: Tx, row: NewImage) =>
  tx.run(sql`
    insert into images (id, account_id, name, labels, kind, source_type, source, vm_id, run_id, counted_gib, staging_host_id, staging_gib, created_at, updated_at)
    values (${row.id}, ${row.account_id}, ${row.name}, ${json(row.labels)}, ${row.kind}, ${row.source_type}, ${row.source}, ${row.vm_id}, ${row.run_id},
      ${row.counted_gib}, ${row.staging_host_id}, ${row.staging_gib}, ${row.created_at}, ${row.created_at})`)

export type ImageFilter = Omit<ImageQuery, 'sort'>

const matching = (accountId: string, { kind, status, name, labelSelector }: ImageFilter) => sql`
  i.account_id = ${accountId} and (${kind ?? null}::text is null or i.kind = ${kind ?? null})
  and (${status ?? null}::text is null or i.status = ${status ?? null}) and ${containing(sql`i.name`, name)} ${selectedBy(sql`i.labels`, labelSelector)}`

export type ImageField = SortField<ImageQuery>

/** One that costs nothing yet is below all prices. */
function sorted(range: SortedRange<ImageField>): Sql {
  switch (range.field) {
    case 'createdAt':
      return sortedByAge(sql`i.id`, range)
    case 'name':
      return sortedByText(sql`i.name`, sql`i.id`, range)
    case 'kind':
      return sortedByText(sql`i.kind`, sql`i.id`, range)
    case 'status':
      return sortedByText(sql`i.status`, sql`i.id`, range)
    case 'size':
      return sortedByNumber(sql`i.size_bytes`, sql`i.id`, range)
    case 'priceMonthly':
      return sortedByNumber(sql`(case when i.next_renewal_at is null then -1 else ${IMAGE_RENEWAL_PRICE} end)`, sql`i.id`, range)
  }
}

export const countImages = async (db: Queries, accountId: string, filter: ImageFilter): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from images i where ${matching(accountId, filter)}`)).count)

export const listImages = (db: Queries, accountId: string, filter: ImageFilter, range: SortedRange<ImageField>) =>
  db.many<ShownImage>(sql`select ${shown} from ${from} where ${matching(accountId, filter)} ${sorted(range)}`)

/** What counts of deleted images, as object lock keeps it. */
export const lockedOf = (db: Queries, accountId: string) =>
  db.one<KeptGib>(sql`
    select coalesce(sum(i.counted_gib), 0)::int as gib, min(${lockedUntil}) as until from images i
    where i.account_id in ${payingTogether(sql`${accountId}`)} and i.status = 'DELETING' and i.size_bytes > 0`)

/** Call it with the quota locked: two that begin at the same time would not see each other. */
export const isImporting = async (tx: Tx, accountId: string): Promise<boolean> =>
  (await tx.maybe(
    sql`select from images where account_id in ${payingTogether(sql`${accountId}`)} and source_type = 'URL' and status = 'CREATING' limit 1`,
  )) !== undefined

export const findImage = (db: Queries, accountId: string, id: string) =>
  db.maybe<ShownImage>(sql`select ${shown} from ${from} where i.id = ${id} and i.account_id = ${accountId}`)

export const imageById = (db: Queries, id: string) => db.maybe<ShownImage>(sql`select ${shown} from ${from} where i.id = ${id}`)

export const addReceived = (db: Queries, id: string, bytes: number) =>
  db.run(sql`update images set received_bytes = received_bytes + ${bytes} where id = ${id}`)

/** Of imports that failed since then, oldest first. */
export const failedImports = (db: Queries, accountId: string, since: Date) =>
  db.many<Pick<Row<'failed_imports'>, 'bytes' | 'failed_at'>>(
    sql`select bytes, failed_at from failed_imports where account_id in ${payingTogether(sql`${accountId}`)} and failed_at > ${since} order by failed_at, image_id`,
  )

/** Older ones no longer count. */
export async function recordFailedImport(tx: Tx, now: Date, since: Date, { id, account_id, received_bytes }: ImageRow): Promise<void> {
  if (received_bytes === 0n) return
  await tx.run(sql`delete from failed_imports where account_id = ${account_id} and failed_at <= ${since}`)
  await tx.run(sql`
    insert into failed_imports (image_id, account_id, bytes, failed_at) values (${id}, ${account_id}, ${received_bytes}, ${now})
    on conflict do nothing`)
}

/** Of all accounts. */
export const countAvailable = async (db: Queries): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from images where status = 'AVAILABLE'`)).count

/** Locks nothing of another account, whose transactions would wait. Who makes a VM from it refers to it meanwhile. */
export const lockImage = async (tx: Tx, accountId: string, id: string): Promise<ShownImage | undefined> => {
  // Pipelined in order: the second statement reads the row under the lock.
  const lock = tx.run(sql`select 1 from images where id = ${id} and account_id = ${accountId} for no key update`)
  const [, row] = await Promise.all([lock, findImage(tx, accountId, id)])
  return row
}

export const lockImageById = async (tx: Tx, id: string): Promise<ShownImage | undefined> => {
  const [, row] = await Promise.all([tx.run(sql`select 1 from images where id = ${id} for no key update`), imageById(tx, id)])
  return row
}

export const setShown = (
  tx: Tx,
  now: Date,
  { id, name, labels, is_protected }: Pick<ImageRow, 'id' | 'name' | 'labels' | 'is_protected'>,
) =>
  tx.run(
    sql`update images set name = ${name}, labels = ${json(labels)}, is_protected = ${is_protected}, updated_at = ${now} where id = ${id}`,
  )

export const setCounted = (tx: Tx, id: string, gib: number) => tx.run(sql`update images set counted_gib = ${gib} where id = ${id}`)

export interface MadeImage {
  sizeBytes: number
  checksum: string
  diskGiB: number | null
  consistency: Consistency | null
}

export const markAvailable = (tx: Tx, now: Date, id: string, made: MadeImage) =>
  tx.run(sql`
    update images set status = 'AVAILABLE', size_bytes = ${made.sizeBytes}, checksum = ${made.checksum}, disk_gib = ${made.diskGiB},
      consistency = ${made.consistency}, staging_host_id = null, staging_gib = 0, updated_at = ${now} where id = ${id}`)

/** It has no data, and takes nothing. One that was deleted meanwhile stays DELETING. */
export const markFailed = (tx: Tx, now: Date, id: string, reason: string) =>
  tx.run(sql`
    update images set status = case when status = 'DELETING' then status else 'FAILED' end, reason = ${reason}, counted_gib = 0,
      staging_host_id = null, staging_gib = 0, next_renewal_at = null, updated_at = ${now} where id = ${id}`)

export const markDeleting = (tx: Tx, now: Date, id: string, reason: string | null, countedGib: number) =>
  tx.run(
    sql`update images set status = 'DELETING', reason = ${reason}, counted_gib = ${countedGib}, next_try_at = null, updated_at = ${now} where id = ${id}`,
  )

/** The ledger goes on naming it. */
export const deleteImage = (tx: Tx, id: string) =>
  tx.run(sql`
    with gone as (delete from images where id = ${id} returning id, account_id, name, labels)
    insert into deleted_resources (id, account_id, type, name, labels) select id, account_id, 'IMAGE', name, labels from gone on conflict do nothing`)

/** Deleted ones that no run works on. */
export const deletedImages = (db: Queries, now: Date) =>
  db.many<Pick<ImageRow, 'id' | 'kind'>>(sql`
    select i.id, i.kind from images i where i.status = 'DELETING' and (i.next_try_at is null or i.next_try_at <= ${now})
      and not exists (select from workflow_runs r where r.id = i.run_id and ${isOpen}) order by i.id limit 100`)

export const postpone = (db: Queries, id: string, until: Date | null) =>
  db.run(sql`update images set next_try_at = ${until} where id = ${id}`)

/** Those of the ids whose files nothing needs. */
export const unknownAmong = async (db: Queries, ids: string[]): Promise<string[]> =>
  (
    await db.many<{ id: string }>(sql`
      select f.id from unnest(${ids}::text[]) as f(id) where not exists (
        select from images i where i.id = f.id and (i.status <> 'FAILED' or exists (select from workflow_runs r where r.id = i.run_id and ${isOpen})))`)
  ).map(({ id }) => id)

const isMovedThere = sql`r.name in ('vm.migrate', 'vm.resize_elsewhere') and ${isOpen} and r.input ->> 'destinationId' = m.host_id`

const isUnused = sql`not exists (select from vms v where v.host_id = m.host_id and v.storage_id is null and (v.os_template_id = m.image_id
  or exists (select from workflow_runs r where r.subject_id = v.id and ${isOpen} and r.input ->> 'templateId' = m.image_id)))
  and not exists (select from workflow_runs r join vms v on v.id = r.subject_id
    where ${isMovedThere} and v.os_template_id = m.image_id)
  and not exists (select from vm_isos s join vms v on v.id = s.vm_id where s.image_id = m.image_id
    and (v.host_id = m.host_id or exists (select from workflow_runs r where r.subject_id = v.id and ${isMovedThere})))`

export interface ImageRoom {
  image_id: string
  host_id: string
  kind: ImageRow['kind']
}

/** Available images on hosts that have no VM from them. In any order: a host that is away keeps its own. */
export const unusedRooms = (db: Queries) =>
  db.many<ImageRoom>(sql`
    select m.image_id, m.host_id, i.kind from image_rooms m join images i on i.id = m.image_id
    where i.status = 'AVAILABLE' and ${isUnused} order by random() limit 100`)

export const isRoomUnused = async (tx: Tx, imageId: string, hostId: string): Promise<boolean> =>
  (await tx.maybe(sql`select from image_rooms m where m.image_id = ${imageId} and m.host_id = ${hostId} and ${isUnused}`)) !== undefined

const isUnusedInStorage = sql`not exists (select from vms v where v.storage_id = m.storage_id and (v.os_template_id = m.image_id
  or exists (select from workflow_runs r where r.subject_id = v.id and ${isOpen} and r.input ->> 'templateId' = m.image_id)))`

/** The same in storage backends. */
export const unusedStorageRooms = (db: Queries) =>
  db.many<{ image_id: string; storage_id: string }>(sql`
    select m.image_id, m.storage_id from image_storage_rooms m join images i on i.id = m.image_id
    where i.status = 'AVAILABLE' and ${isUnusedInStorage} order by random() limit 100`)

export const isStorageRoomUnused = async (tx: Tx, imageId: string, storageId: string): Promise<boolean> =>
  (await tx.maybe(
    sql`select from image_storage_rooms m where m.image_id = ${imageId} and m.storage_id = ${storageId} and ${isUnusedInStorage}`,
  )) !== undefined

/** Unpaid ones only where the balance covers them now, or a deadline has passed. One that VMs need stays until they are gone. */
export const dueImages = (db: Queries, { now, graceOver, retentionOver }: Deadlines) =>
  db.many<{ id: string }>(sql`
    select i.id from images i left join wallets w on w.account_id = ${payerOf(sql`i.account_id`)}
    where i.status = 'AVAILABLE' and i.next_renewal_at <= ${now} and not ${isSuspended(sql`i.account_id`)}
      and (i.billing_status = 'ACTIVE' or coalesce(w.balance_cents, 0) >= ${IMAGE_RENEWAL_PRICE}
        or (i.billing_status = 'PAST_DUE' and i.past_due_at <= ${graceOver})
        or (i.billing_status = 'SUSPENDED' and exists (select from vm_isos s where s.image_id = i.id))
        or (i.billing_status = 'SUSPENDED' and i.past_due_at <= ${retentionOver} and not exists (select from vms v where v.os_template_id = i.id)
          and not exists (select from snapshots s where s.os_template_id = i.id) and not exists (select from backups b where b.os_template_id = i.id)))
    order by i.next_renewal_at, i.id limit 500`)

export const setPeriod = (tx: Tx, now: Date, id: string, period: Period) =>
  tx.run(sql`update images set ${paid(now, period)} where id = ${id}`)

export const insertPeriod = (tx: Tx, id: string, { startsAt, endsAt }: Period, transactionId: string) =>
  tx.run(sql`
    insert into image_periods (image_id, started_at, ends_at, transaction_id) values (${id}, ${startsAt}, ${endsAt}, ${transactionId})`)

export const markUnpaid = (tx: Tx, now: Date, id: string, status: 'PAST_DUE' | 'SUSPENDED') =>
  tx.run(sql`update images set ${unpaid(now, status)} where id = ${id}`)

/** VMs and copies whose disks need it: the first five by name. */
export const usersOf = (db: Queries, id: string) =>
  db.many<{ what: string; name: string }>(sql`
    select what, name from (
      select 'VM' as what, name from vms where os_template_id = ${id}
      union all select 'VM', v.name from vm_isos s join vms v on v.id = s.vm_id where s.image_id = ${id}
      union all select 'snapshot', v.name || '/' || s.name from snapshots s join vms v on v.id = s.vm_id where s.os_template_id = ${id}
      union all select 'backup', v.name || '/' || b.name from backups b join vms v on v.id = b.vm_id where b.os_template_id = ${id}
    ) users order by what collate "C", name limit 5`)
