import { sql, type Queries } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type BackupStateRow = Row<'control_plane_backups'>

const row = allColumns('control_plane_backups', 'c')

export const listStates = (db: Queries) =>
  db.many<BackupStateRow & { region_slug: string }>(sql`
    select ${row}, r.slug as region_slug from control_plane_backups c join backup_targets t on t.id = c.target_id join regions r on r.id = t.region_id
    order by r.slug`)

/** Null: none are made daily any more. */
export const setKeepDays = (db: Queries, now: Date, targetId: string, keepDays: number | null) =>
  db.run(sql`
    insert into control_plane_backups (target_id, keep_days, next_at, created_at) values (${targetId}, ${keepDays}, ${now}, ${now})
    on conflict (target_id) do update set keep_days = excluded.keep_days, next_at = excluded.next_at, error = null`)

export const dueStates = (db: Queries, now: Date) =>
  db.many<Pick<BackupStateRow, 'target_id'>>(sql`
    select target_id from control_plane_backups
    where keep_days is not null and next_at <= ${now} and coalesce(claimed_until, '-infinity') <= ${now} order by target_id`)

/** Nothing while another process makes one. Returns the state as it was. */
export const claim = (db: Queries, now: Date, until: Date, targetId: string, uploadId: string) =>
  db.maybe<BackupStateRow>(sql`
    with before as (select ${row} from control_plane_backups c where target_id = ${targetId} for update)
    update control_plane_backups c set claimed_until = ${until}, upload_id = ${uploadId}
    from before where c.target_id = before.target_id and coalesce(before.claimed_until, '-infinity') <= ${now}
    returning ${allColumns('control_plane_backups', 'before')}`)

export const markDone = (db: Queries, targetId: string, doneAt: Date, nextAt: Date) =>
  db.run(sql`
    update control_plane_backups set done_at = ${doneAt}, next_at = ${nextAt}, claimed_until = null, upload_id = null, error = null
    where target_id = ${targetId}`)

/** The upload may be unfinished. */
export const markFailed = (db: Queries, targetId: string, error: string, nextAt: Date) =>
  db.run(sql`
    update control_plane_backups set error = ${error}, next_at = ${nextAt}, claimed_until = null where target_id = ${targetId}`)

/** Images that are not in the target, or in none. */
export const ownImagesOutside = (db: Queries, targetId: string | null) =>
  db.one<{ count: number; bytes: bigint }>(sql`
    select count(*)::int as count, coalesce(sum(size_bytes), 0)::int8 as bytes from images i
    where status = 'AVAILABLE' and not exists (select from image_copies c
      where c.image_id = i.id and c.stored_at is not null and (${targetId}::text is null or c.target_id = ${targetId}))`)
