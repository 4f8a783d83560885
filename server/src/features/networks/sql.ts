import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type NetworkRow = Row<'networks'>

export type CountedRow = NetworkRow & { attachment_count: number }

export type NewNetwork = Pick<
  NetworkRow,
  'id' | 'account_id' | 'region_id' | 'host_id' | 'name' | 'cidr' | 'gateway' | 'enable_snat' | 'enable_dhcp' | 'created_at'
>

const attachmentCount = sql`(select count(*)::int from network_attachments a where a.network_id = n.id) as attachment_count`

/** Returns no row when the range is in use, also by a concurrent transaction. */
export const insertNetwork = (tx: Tx, row: NewNetwork) =>
  tx.maybe<CountedRow>(sql`
    insert into networks (id, account_id, region_id, host_id, name, cidr, gateway, enable_snat, enable_dhcp, created_at, updated_at)
    values (${row.id}, ${row.account_id}, ${row.region_id}, ${row.host_id}, ${row.name}, ${row.cidr}, ${row.gateway},
      ${row.enable_snat}, ${row.enable_dhcp}, ${row.created_at}, ${row.created_at})
    on conflict do nothing returning ${allColumns('networks')}, 0 as attachment_count`)

export const findOverlap = (tx: Tx, accountId: string, cidr: string) =>
  tx.maybe<NetworkRow>(sql`
    select ${allColumns('networks')} from networks where account_id = ${accountId} and cidr && ${cidr}::inet and deleted_at is null order by id limit 1`)

/** Whether the account deleted the network that still holds the range on one of these hosts. */
export const findLeaving = (tx: Tx, accountId: string, hostIds: string[], cidr: string) =>
  tx.maybe(sql`
    select from networks where account_id = ${accountId} and host_id = any(${hostIds}::text[]) and cidr && ${cidr}::inet and deleted_at is not null
    limit 1`)

export const listNetworks = (db: Queries, accountId: string, range: PageRange) =>
  db.many<CountedRow>(sql`
    select ${allColumns('networks', 'n')}, ${attachmentCount} from networks n where account_id = ${accountId} and deleted_at is null
    ${newestFirst(sql`id`, range)}`)

export const findNetwork = (db: Queries, accountId: string, id: string) =>
  db.maybe<CountedRow>(sql`
    select ${allColumns('networks', 'n')}, ${attachmentCount} from networks n where id = ${id} and account_id = ${accountId} and deleted_at is null`)

export const renameNetwork = (tx: Tx, accountId: string, id: string, name: string, now: Date) =>
  tx.maybe<CountedRow>(sql`
    update networks n set name = ${name}, updated_at = ${now}
    where id = ${id} and account_id = ${accountId} and deleted_at is null returning ${allColumns('networks', 'n')}, ${attachmentCount}`)

/** In a fixed order, so that concurrent requests for the same networks do not deadlock. */
export const lockNetworks = (tx: Tx, accountId: string, ids: string[]) =>
  tx.many<NetworkRow>(sql`
    select ${allColumns('networks')} from networks where id = any(${ids}::text[]) and account_id = ${accountId} and deleted_at is null order by id for update`)

export const markDeleted = (tx: Tx, id: string, now: Date) => tx.run(sql`update networks set deleted_at = ${now} where id = ${id}`)

export const countAttachments = async (tx: Tx, networkId: string): Promise<number> =>
  (await tx.one<{ count: number }>(sql`select count(*)::int as count from network_attachments where network_id = ${networkId}`)).count

const pending = (now: Date) => sql`
  (not is_applied or deleted_at is not null) and coalesce(claimed_until, '-infinity') <= ${now} and coalesce(next_try_at, '-infinity') <= ${now}`

export const hostsWithPending = (db: Queries, now: Date) =>
  db.many<{ host_id: string }>(sql`select distinct host_id from networks where ${pending(now)}`)

/** Deleted networks first: they free their ranges. */
export const claimPending = (db: Queries, hostId: string, now: Date, until: Date) =>
  db.maybe<NetworkRow>(sql`
    update networks set claimed_until = ${until} where id = (
      select id from networks where host_id = ${hostId} and ${pending(now)} order by deleted_at nulls last, id limit 1 for update skip locked)
    returning ${allColumns('networks')}`)

export const markApplied = (db: Queries, { id, claimed_until }: NetworkRow) =>
  db.run(
    sql`update networks set is_applied = true, claimed_until = null, next_try_at = null where id = ${id} and claimed_until = ${claimed_until}`,
  )

export const removeDeleted = (db: Queries, id: string) => db.run(sql`delete from networks where id = ${id} and deleted_at is not null`)

export const postpone = (db: Queries, { id, claimed_until }: NetworkRow, until: Date) =>
  db.run(sql`update networks set claimed_until = null, next_try_at = ${until} where id = ${id} and claimed_until = ${claimed_until}`)

/** Marks networks that are missing on the host as not applied. */
export const markMissing = (db: Queries, hostId: string, present: string[]) =>
  db.many<{ id: string }>(sql`
    update networks set is_applied = false
    where host_id = ${hostId} and is_applied and deleted_at is null and id <> all(${present}::text[]) returning id`)

export const unknownOf = async (db: Queries, ids: string[]): Promise<string[]> =>
  (
    await db.many<{ id: string }>(sql`
    select id from unnest(${ids}::text[]) as host(id) where not exists (select from networks n where n.id = host.id)`)
  ).map((row) => row.id)
