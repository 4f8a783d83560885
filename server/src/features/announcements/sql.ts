import { inline, sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type AnnouncementRow = Row<'announcements'>

const MOST = inline(500)

export const insertAnnouncement = (tx: Tx, row: Omit<AnnouncementRow, 'withdrawn_at'>) =>
  tx.run(sql`
    insert into announcements (id, level, text, region_id, starts_at, ends_at, created_at)
    values (${row.id}, ${row.level}, ${row.text}, ${row.region_id}, ${row.starts_at}, ${row.ends_at}, ${row.created_at})`)

/** Those that concern the account now: newest first. */
export const listShown = (db: Queries, now: Date, accountId: string) =>
  db.many<AnnouncementRow>(sql`
    select ${allColumns('announcements', 'n')} from announcements n
    where n.withdrawn_at is null and n.starts_at <= ${now} and (n.ends_at is null or n.ends_at > ${now})
      and (n.region_id is null
        or exists (select from vms v where v.account_id = ${accountId} and v.region_id = n.region_id)
        or exists (select from volumes o where o.account_id = ${accountId} and o.region_id = n.region_id)
        or exists (select from addresses a where a.account_id = ${accountId} and a.region_id = n.region_id)
        or exists (select from networks w where w.account_id = ${accountId} and w.region_id = n.region_id and w.deleted_at is null))
    order by n.starts_at desc, n.id desc limit ${MOST}`)

export type ListedAnnouncement = AnnouncementRow & { region_slug: string | null }

export const listAnnouncements = (db: Queries) =>
  db.many<ListedAnnouncement>(sql`
    select ${allColumns('announcements', 'n')}, r.slug as region_slug from announcements n left join regions r on r.id = n.region_id
    order by n.id desc limit ${MOST}`)

export const findAnnouncement = (db: Queries, id: string) =>
  db.maybe<ListedAnnouncement>(sql`
    select ${allColumns('announcements', 'n')}, r.slug as region_slug from announcements n left join regions r on r.id = n.region_id where n.id = ${id}`)

/** False where there is none, or it is withdrawn already. */
export const withdraw = async (tx: Tx, now: Date, id: string): Promise<boolean> =>
  (await tx.run(sql`update announcements set withdrawn_at = ${now} where id = ${id} and withdrawn_at is null`)) > 0
