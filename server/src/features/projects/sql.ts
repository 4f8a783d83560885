import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'

export interface ProjectRow {
  id: string
  name: string
  created_at: Date
  vm_count: number
}

const listed = (payerId: string) => sql`payer_account_id = ${payerId} and deleted_at is null`

const shown = sql`select id, name, created_at, (select count(*)::int from vms v where v.account_id = a.id) as vm_count from accounts a`

export const countProjects = async (db: Queries, payerId: string): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from accounts where ${listed(payerId)}`)).count

export const listProjects = (db: Queries, payerId: string, range: PageRange) =>
  db.many<ProjectRow>(sql`${shown} where ${listed(payerId)} ${newestFirst(sql`id`, range)}`)

export const findProject = (db: Queries, payerId: string, id: string) =>
  db.maybe<ProjectRow>(sql`${shown} where id = ${id} and ${listed(payerId)}`)

/** How many projects an account has made since then, also those that were deleted. */
export const countSince = async (tx: Tx, payerId: string, since: Date): Promise<number> =>
  (
    await tx.one<{ count: number }>(
      sql`select count(*)::int as count from accounts where payer_account_id = ${payerId} and created_at > ${since}`,
    )
  ).count

/** What keeps a project from being deleted, by its name in a sentence. */
export const countResources = (tx: Tx, accountId: string) =>
  tx.many<{ what: string; count: number }>(sql`
    select what, count(*)::int as count from (
      select 'VM' as what from vms where account_id = ${accountId}
      union all select 'volume' from volumes where account_id = ${accountId} and deleted_at is null
      union all select 'snapshot' from snapshots where account_id = ${accountId}
      union all select 'backup' from backups where account_id = ${accountId} and status <> 'DELETING' and not is_tombstone
      union all select 'image' from images where account_id = ${accountId} and status <> 'DELETING'
      union all select 'floating address' from addresses where account_id = ${accountId}
      union all select 'network' from networks where account_id = ${accountId} and deleted_at is null
      union all select 'firewall' from firewalls where account_id = ${accountId}
      union all select 'placement group' from placement_groups where account_id = ${accountId}
      union all select 'SSH key' from ssh_keys where account_id = ${accountId}) each
    group by what order by what`)
