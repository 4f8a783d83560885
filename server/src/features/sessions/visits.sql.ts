import { sql, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { contactOf, membersOf, requiresTotp } from '../accounts/service.ts'

export type VisitRow = Row<'account_visits'>

/** SQL expression: the account, or one that pays for it, is an operator's. */
const isOperators = (accountId: Sql): Sql => sql`
  (exists (select from ${membersOf(accountId)} m join users u on u.id = m.user_id where u.is_operator)
    or exists (select from users u join accounts o on o.id = ${accountId} where u.is_operator and u.account_id in (o.id, o.payer_account_id)))`

export const isOfOperator = async (db: Queries, accountId: string): Promise<boolean> =>
  (await db.one<{ is: boolean }>(sql`select ${isOperators(sql`${accountId}`)} as is`)).is

export type FoundVisit = VisitRow & {
  account_name: string
  email: string | null
  payer_account_id: string | null
  requires_totp: boolean
}

/** One that is not over. */
export const findVisit = (db: Queries, now: Date, sessionId: string, accountId: string) =>
  db.maybe<FoundVisit>(sql`
    select ${allColumns('account_visits', 'v')}, a.name as account_name, ${contactOf(sql`a`)} as email, a.payer_account_id,
      ${requiresTotp(sql`a`)} as requires_totp
    from account_visits v join accounts a on a.id = v.account_id
    where v.session_id = ${sessionId} and v.account_id = ${accountId} and v.ended_at is null and v.ends_at > ${now} and a.deleted_at is null
      and not ${isOperators(sql`v.account_id`)} order by v.id desc limit 1`)

export const insertVisit = (tx: Tx, row: Omit<VisitRow, 'writes_since' | 'writes_reason' | 'ended_at'>) =>
  tx.run(sql`
    insert into account_visits (id, user_id, session_id, account_id, reason, started_at, ends_at)
    values (${row.id}, ${row.user_id}, ${row.session_id}, ${row.account_id}, ${row.reason}, ${row.started_at}, ${row.ends_at})`)

export const endVisits = (tx: Tx, now: Date, sessionId: string, accountId: string) =>
  tx.run(sql`
    update account_visits set ended_at = least(${now}::timestamptz, ends_at)
    where session_id = ${sessionId} and account_id = ${accountId} and ended_at is null`)

export const allowWrites = (tx: Tx, now: Date, id: string, reason: string) =>
  tx.run(sql`update account_visits set writes_since = coalesce(writes_since, ${now}), writes_reason = ${reason} where id = ${id}`)

export const listVisits = (db: Queries, accountId: string, limit: number) =>
  db.many<VisitRow & { user_email: string }>(sql`
    select ${allColumns('account_visits', 'v')}, u.email as user_email from account_visits v join users u on u.id = v.user_id
    where v.account_id = ${accountId} order by v.started_at desc, v.id desc limit ${limit}`)
