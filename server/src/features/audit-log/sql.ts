import { inline, sql, type Queries, type Sql } from '../../kernel/database/db.ts'
import type { PageRange } from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

/** Action of an entry that aggregates denied requests. */
export const REFUSALS = 'refusals'

export type AuditRow = Row<'audit_log'>

export const insertion = (row: AuditRow): Sql => sql`
  insert into audit_log (account_id, created_at, id, actor_type, actor_id, actor_name, ip, action, method, route, resource_ids, status, code,
    request_id, count, person_id, person_name, resource, resource_name, changes)
  values (${row.account_id}, ${row.created_at}, ${row.id}, ${row.actor_type}, ${row.actor_id}, ${row.actor_name}, ${row.ip}, ${row.action},
    ${row.method}, ${row.route}, ${row.resource_ids}, ${row.status}, ${row.code}, ${row.request_id}, ${row.count}, ${row.person_id},
    ${row.person_name}, ${row.resource}, ${row.resource_name}, ${row.changes === null ? null : JSON.stringify(row.changes)}::jsonb)`

/** The row's lock is the last of its transaction. */
export const countedInsertion = (row: AuditRow): Sql =>
  sql`${insertion(row)} on conflict (account_id, created_at, id) do update set count = audit_log.count + 1`

/** Idempotent by id: a batch retried after a lost commit answer inserts nothing twice. */
export const insertAll = (db: Queries, rows: AuditRow[]) =>
  db.run(sql`
    insert into audit_log (${allColumns('audit_log')})
    select ${allColumns('audit_log')} from jsonb_populate_recordset(null::audit_log, ${JSON.stringify(rows)}::jsonb) on conflict do nothing`)

/** A filter scans at most this many entries; a date range reaches older ones. */
const MAX_SEARCHED = 100_000

export interface Filter {
  action: string | null
  tokenId: string | null
  personId: string | null
  from: Date | null
  /** Exclusive. */
  before: Date | null
}

/** Stops counting at `most`, so that the response time does not grow with the log. */
export const countUpTo = async (db: Queries, accountId: string, filter: Filter, most: number): Promise<number> =>
  (
    await db.one<{ count: number }>(sql`
      select count(*)::int as count from (select 1 from ${matching(accountId, filter)} limit ${most}) line`)
  ).count

export const list = (db: Queries, accountId: string, filter: Filter, { limit, offset, after }: PageRange) =>
  db.many<AuditRow>(sql`
    select ${allColumns('audit_log')} from ${matching(accountId, filter)}
    ${after ? sql`where (created_at, id) < (${new Date(after[0]!)}, ${after[1] ?? ''})` : sql``} order by created_at desc, id desc limit ${limit} offset ${offset}`)

/**
 * Adds only the requested conditions, so that each combination gets its own query plan. Conditions without an index scan a bounded
 * range.
 */
function matching(accountId: string, { action, tokenId, personId, from, before }: Filter): Sql {
  let range = sql`select ${allColumns('audit_log')} from audit_log where account_id = ${accountId}`
  if (from) range = sql`${range} and created_at >= ${from}`
  if (before) range = sql`${range} and created_at < ${before}`
  if (!action && !tokenId && !personId) return sql`(${range}) line`
  let found = sql`
    select ${allColumns('audit_log')} from (${range} order by created_at desc, id desc limit ${inline(MAX_SEARCHED)}) newest where true`
  if (action) found = sql`${found} and action = ${action}`
  if (tokenId) found = sql`${found} and actor_type = 'token' and actor_id = ${tokenId}`
  if (personId) found = sql`${found} and person_id = ${personId}`
  return sql`(${found}) line`
}

/** Returns the number of deleted rows. */
export const deleteBefore = (db: Queries, moment: Date, most: number) =>
  db.run(sql`delete from audit_log where ctid = any(array(select ctid from audit_log where created_at < ${moment} limit ${most}))`)
