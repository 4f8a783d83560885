import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import { membershipsOf, requiresTotp } from '../accounts/service.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type SessionRow = Row<'sessions'>

export interface AccountOfUser {
  id: string
  name: string
  /** Null of a project. */
  email: string | null
  requires_totp: boolean
  /** Null where it is no project. */
  payer_account_id: string | null
  is_inherited: boolean
  role: Row<'members'>['role']
  scopes: string[]
}

/** A session with one account of its user; the account is null where the user is a member of none. */
export interface Found extends SessionRow {
  email: string
  is_operator: boolean
  has_totp: boolean
  /** The account that the user signed up with. */
  home_id: string | null
  account_id: string | null
  payer_account_id: string | null
  is_inherited: boolean | null
  member_of: string | null
  role: Row<'members'>['role'] | null
  scopes: string[] | null
  has_budget: boolean
  requires_totp: boolean | null
}

export const insertSession = (tx: Tx, row: Omit<SessionRow, 'previous_hash' | 'previous_until'>) =>
  tx.one<SessionRow>(sql`
    insert into sessions (id, hash, user_id, authenticated_at, ip, user_agent, created_at, last_seen_at, expires_at, identity_id, has_second_factor)
    values (${row.id}, ${row.hash}, ${row.user_id}, ${row.authenticated_at}, ${row.ip}, ${row.user_agent}, ${row.created_at}, ${row.last_seen_at},
      ${row.expires_at}, ${row.identity_id}, ${row.has_second_factor}) returning ${allColumns('sessions')}`)

export const findByHash = (db: Queries, hash: Buffer) =>
  db.many<Found>(sql`
    select ${allColumns('sessions', 's')}, p.email, p.is_operator, p.totp_enabled_at is not null as has_totp, p.account_id as home_id,
      m.account_id, a.payer_account_id, m.is_inherited, m.member_of, m.role, m.scopes, ${requiresTotp(sql`a`)} as requires_totp,
      exists(select from budgets b where b.subject_type = 'MEMBER' and b.subject_id = m.member_of || '/' || m.user_id)
        or exists(select from budgets b where b.subject_type = 'PROJECT' and b.subject_id = m.account_id) as has_budget
    from sessions s join users p on p.id = s.user_id left join lateral ${membershipsOf(sql`p.id`)} m on true left join accounts a on a.id = m.account_id
    where s.hash = ${hash} or s.previous_hash = ${hash} order by m.account_id`)

export const findSession = (db: Queries, id: string) =>
  db.maybe<SessionRow>(sql`select ${allColumns('sessions')} from sessions where id = ${id}`)

/** Those that have not ended, with what their users may do in each of their accounts. */
export const listRights = (db: Queries, now: Date, idleSince: Date, ids: string[]) =>
  db.many<{
    id: string
    account_id: string
    role: Row<'members'>['role']
    scopes: string[]
    has_totp: boolean
    requires_totp: boolean
  }>(sql`
    select s.id, m.account_id, m.role, m.scopes, p.totp_enabled_at is not null or s.has_second_factor as has_totp, ${requiresTotp(sql`a`)} as requires_totp
    from sessions s join users p on p.id = s.user_id cross join lateral ${membershipsOf(sql`p.id`)} m join accounts a on a.id = m.account_id
    where s.id = any(${ids}::text[]) and s.expires_at > ${now} and s.last_seen_at > ${idleSince}`)

/** Of one user, with the accounts of the user. */
export const listAccounts = (db: Queries, userId: string) =>
  db.many<AccountOfUser>(sql`
    select a.id, a.name, a.email, ${requiresTotp(sql`a`)} as requires_totp, a.payer_account_id, m.is_inherited, m.role, m.scopes
    from ${membershipsOf(sql`${userId}`)} m join accounts a on a.id = m.account_id order by a.id`)

export const touch = (db: Queries, now: Date, id: string, ip: string) =>
  db.run(sql`update sessions set last_seen_at = greatest(last_seen_at, ${now}), ip = ${ip} where id = ${id}`)

export interface Rotation {
  id: string
  hash: Buffer
  provedAt: Date
  previousUntil: Date
}

export const rotate = (tx: Tx, { id, hash, provedAt, previousUntil }: Rotation) =>
  tx.maybe<SessionRow>(sql`
    update sessions set previous_hash = hash, previous_until = ${previousUntil}, hash = ${hash}, authenticated_at = ${provedAt}
    where id = ${id} returning ${allColumns('sessions')}`)

export const listOf = (db: Queries, now: Date, idleSince: Date, userId: string) =>
  db.many<SessionRow>(sql`
    select ${allColumns('sessions')} from sessions where user_id = ${userId} and expires_at > ${now} and last_seen_at > ${idleSince} order by last_seen_at desc, id`)

/** It goes on without the identity that it was begun by. */
export const forgetIdentity = (tx: Tx, id: string, identityId: string) =>
  tx.run(sql`update sessions set identity_id = null, has_second_factor = false where id = ${id} and identity_id = ${identityId}`)

export const endSession = (tx: Tx, userId: string, id: string) => tx.run(sql`delete from sessions where id = ${id} and user_id = ${userId}`)

export const endByHash = (tx: Tx, hash: Buffer) => tx.run(sql`delete from sessions where hash = ${hash}`)

export const endOthers = (tx: Tx, userId: string, keptId: string | null) =>
  tx.run(sql`delete from sessions where user_id = ${userId} and id is distinct from ${keptId}`)

/** Keeps the `most` recently used sessions and ends the others. */
export const endBeyond = (tx: Tx, userId: string, most: number) =>
  tx.run(sql`
    delete from sessions where id in (
      select id from sessions where user_id = ${userId} order by last_seen_at desc, id desc offset ${most})`)

export const dropOver = (db: Queries, now: Date, idleSince: Date) =>
  db.run(sql`delete from sessions where expires_at <= ${now} or last_seen_at <= ${idleSince}`)
