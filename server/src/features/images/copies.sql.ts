import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { isOpen } from '../../workflow/run-store.ts'

export type CopyRow = Row<'image_copies'>

const row = allColumns('image_copies', 'c')

/** Targets that keep the control plane have its images too; where none does, the oldest one. */
const isForImages = sql`(exists (select from control_plane_backups k where k.target_id = t.id and k.keep_days is not null)
  or not exists (select from control_plane_backups k where k.keep_days is not null)
    and t.id = (select id from backup_targets order by created_at, id limit 1))`

/** Those of OS templates are known by the digits of their checksums: one file may be the image of several. */
const templateImages = sql`select distinct substr(o.checksum, 8) as id from os_templates o where o.account_id is null and o.checksum <> ''`

/** That of a template says 'infinity' where it may be tried at any time: workers of the version before, which know no templates, take it for unneeded and would remove it. */
const whenever = (id: Sql) => sql`case when length(${id}) = 64 then 'infinity'::timestamptz end`
const nextTry = sql`nullif(c.next_try_at, 'infinity')`

export const insertMissing = (db: Queries, now: Date) =>
  db.run(sql`
    insert into image_copies (image_id, target_id, next_try_at, created_at)
    select i.id, t.id, ${whenever(sql`i.id`)}, ${now} from (select id from images where status = 'AVAILABLE' union all ${templateImages}) i cross join backup_targets t
    where ${isForImages} and not exists (select from image_copies c where c.image_id = i.id and c.target_id = t.id)
    on conflict do nothing`)

/**
 * The targets that are to have an image of a template that is not published yet, in which nobody looks for what is unneeded until then. A run that works on the copy already goes on.
 */
export const holdCopies = (db: Queries, now: Date, imageId: string, until: Date) =>
  db.many<{ target_id: string; region_slug: string }>(sql`
    with targets as (select t.id, g.slug from backup_targets t join regions g on g.id = t.region_id where ${isForImages}),
      held as (
        insert into image_copies as c (image_id, target_id, next_try_at, created_at) select ${imageId}::text, id, ${until}, ${now} from targets
        on conflict (image_id, target_id) do update set next_try_at = excluded.next_try_at where not ${hasRun})
    select id as target_id, slug as region_slug from targets order by slug`)

/** The name of the workflow that stores one. */
export const COPY_IMAGE = 'image.copy'

const hasRun = sql`exists (select from workflow_runs r where r.id = c.run_id and ${isOpen})`
const isNeeded = sql`(exists (select from images i where i.id = c.image_id and i.status = 'AVAILABLE')
  or c.image_id in (${templateImages}))`
const isDue = (now: Date) => sql`coalesce(${nextTry}, '-infinity') <= ${now}`

/** What is being stored, and what is being removed. */
export const countRuns = (db: Queries) =>
  db.one<{ stores: number; removals: number }>(sql`
    select count(*) filter (where r.name = ${COPY_IMAGE})::int as stores, count(*) filter (where r.name <> ${COPY_IMAGE})::int as removals
    from image_copies c join workflow_runs r on r.id = c.run_id where ${isOpen}`)

/** Not there yet, or locked for less than half of what it should be. */
export const dueCopies = (db: Queries, now: Date, limit: number) =>
  db.many<CopyRow>(sql`
    select ${row} from image_copies c join backup_targets t on t.id = c.target_id
    where (c.stored_at is null or t.lock_days is not null and coalesce(c.renew_at, '-infinity') <= ${now})
      and ${isNeeded} and ${isDue(now)} and not ${hasRun}
    order by c.stored_at nulls first, ${nextTry} nulls first, c.image_id limit ${limit}`)

/** Runs that store images that were deleted. */
export const unneededRuns = (db: Queries) =>
  db.many<{ id: string }>(sql`
    select r.id from image_copies c join workflow_runs r on r.id = c.run_id
    where not ${isNeeded} and r.name = ${COPY_IMAGE} and not r.compensating and ${isOpen} order by c.image_id`)

/** Of images that were deleted, without a run. */
export const unneededCopies = (db: Queries, now: Date, limit: number) =>
  db.many<CopyRow>(sql`
    select ${row} from image_copies c where not ${isNeeded} and ${isDue(now)} and not ${hasRun}
    order by ${nextTry} nulls first, c.image_id limit ${limit}`)

/** Nothing where a run works on it. */
export const lockIdleCopy = (tx: Tx, imageId: string, targetId: string) =>
  tx.maybe<CopyRow>(sql`
    select ${row} from image_copies c where c.image_id = ${imageId} and c.target_id = ${targetId} and not ${hasRun} for update`)

export const findCopy = (db: Queries, imageId: string, targetId: string) =>
  db.maybe<CopyRow>(sql`select ${row} from image_copies c where c.image_id = ${imageId} and c.target_id = ${targetId}`)

/** Nobody deletes it before the transaction ends: what object lock keeps of a deleted one counts only where a copy is known. That of a template counts nowhere. */
export const lockNeeded = async (tx: Tx, imageId: string): Promise<boolean> =>
  (await tx.maybe(sql`select from images where id = ${imageId} and status = 'AVAILABLE' for share`)) !== undefined ||
  (await tx.maybe(sql`select from (${templateImages}) t where t.id = ${imageId}`)) !== undefined

/** Object lock keeps what there is of it in a target. One that is to be renewed was locked, whatever holds for the target by now. */
export const isLocked = async (tx: Tx, imageId: string): Promise<boolean> =>
  (await tx.maybe(sql`
    select from image_copies c join backup_targets t on t.id = c.target_id
    where c.image_id = ${imageId} and (t.lock_days is not null or c.renew_at is not null) limit 1`)) !== undefined

export const findStored = (db: Queries, imageId: string) =>
  db.many<CopyRow>(sql`select ${row} from image_copies c where c.image_id = ${imageId} and c.stored_at is not null order by c.stored_at`)

export const setRun = (tx: Tx, { image_id, target_id }: CopyRow, runId: string) =>
  tx.run(sql`update image_copies set run_id = ${runId} where image_id = ${image_id} and target_id = ${target_id}`)

/** The image of a template may be needed again before its copy is gone. */
export const setRemoval = (tx: Tx, { image_id, target_id }: CopyRow, runId: string) =>
  tx.run(sql`update image_copies set run_id = ${runId}, stored_at = null where image_id = ${image_id} and target_id = ${target_id}`)

type Id = Pick<CopyRow, 'image_id' | 'target_id'>

const stored = (now: Date, checksum: string, renewAt: Date | null) =>
  sql`stored_at = coalesce(stored_at, ${now}), checksum = ${checksum}, renew_at = ${renewAt}, error = null, next_try_at = ${whenever(sql`image_id`)}`

export const markStored = (tx: Tx, now: Date, { image_id, target_id }: Id, checksum: string, renewAt: Date | null) =>
  tx.run(sql`update image_copies set ${stored(now, checksum, renewAt)} where image_id = ${image_id} and target_id = ${target_id}`)

/** Nothing while a run works on it, which may remove it. */
export const markHeldStored = (tx: Tx, now: Date, { image_id, target_id }: Id, checksum: string, renewAt: Date | null) =>
  tx.run(sql`
    update image_copies c set ${stored(now, checksum, renewAt)} where image_id = ${image_id} and target_id = ${target_id} and not ${hasRun}`)

export const postponeCopy = (tx: Tx, { image_id, target_id }: Id, until: Date, error: string | null) =>
  tx.run(sql`
    update image_copies set next_try_at = ${until}, error = ${error} where image_id = ${image_id} and target_id = ${target_id}`)

/** No lock ends earlier than half of its days after it was to be renewed. Chunks are locked for up to twice as long as manifests. */
export const postponeLocked = (tx: Tx, now: Date, { image_id, target_id }: Id, lockedBytes: number) =>
  tx.run(sql`
    update image_copies c set error = null, locked_bytes = ${lockedBytes},
      next_try_at = greatest(${now}, c.renew_at) + greatest(t.lock_days * interval '12 hours', interval '1 day')
    from backup_targets t where t.id = c.target_id and c.image_id = ${image_id} and c.target_id = ${target_id}`)

export const deleteCopy = (tx: Tx, { image_id, target_id }: Id) =>
  tx.run(sql`delete from image_copies where image_id = ${image_id} and target_id = ${target_id}`)

/** Images that are not in each target that is to have them, oldest first. */
export const notStored = (db: Queries) =>
  db.many<{ id: string; name: string; region_slug: string; error: string | null }>(sql`
    select i.id, i.name, g.slug as region_slug, c.error
    from images i cross join backup_targets t join regions g on g.id = t.region_id
      left join image_copies c on c.image_id = i.id and c.target_id = t.id
    where i.status = 'AVAILABLE' and ${isForImages} and c.stored_at is null order by i.id, g.slug`)

/** Where the images of OS templates are to be, and what else has one. */
export const templateCopies = (db: Queries) =>
  db.many<{ id: string; region_slug: string; is_stored: boolean; error: string | null }>(sql`
    select i.id, g.slug as region_slug, c.stored_at is not null as is_stored, c.error
    from (${templateImages}) i cross join backup_targets t join regions g on g.id = t.region_id
      left join image_copies c on c.image_id = i.id and c.target_id = t.id
    where ${isForImages} or c.stored_at is not null order by i.id, g.slug`)

/** Those that are the image of no OS template. */
export const unneededTemplateImages = async (db: Queries, ids: string[]): Promise<string[]> =>
  (await db.many<{ id: string }>(sql`select f.id from unnest(${ids}::text[]) as f(id) where f.id not in (${templateImages})`)).map(
    ({ id }) => id,
  )
