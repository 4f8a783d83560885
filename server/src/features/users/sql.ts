import { sql, type NotNull, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { clientNetwork } from '../../kernel/net/client-network.ts'
import { allColumns } from '../../schema/columns.ts'
import { payerOf } from '../accounts/service.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type UserRow = Row<'users'>

export type NewUser = Omit<UserRow, 'totp_secret' | 'totp_enabled_at' | 'totp_step' | 'language'>

export const insertUser = (tx: Tx, row: NewUser) =>
  tx.maybe<UserRow>(sql`
    insert into users (id, account_id, email, name, password_hash, is_operator, created_at)
    values (${row.id}, ${row.account_id}, ${row.email}, ${row.name}, ${row.password_hash}, ${row.is_operator}, ${row.created_at})
    on conflict do nothing returning ${allColumns('users')}`)

export const findUser = (db: Queries, id: string) => db.maybe<UserRow>(sql`select ${allColumns('users')} from users where id = ${id}`)

export const findByEmail = (db: Queries, email: string) =>
  db.maybe<UserRow>(sql`select ${allColumns('users')} from users where lower(email) = lower(${email})`)

const accountIds = (userId: Sql) => sql`array(select account_id from members where user_id = ${userId} order by account_id)`

/** The accounts of which the user is a member, without projects of theirs. */
export const accountsOf = (db: Queries, userId: string) =>
  db.many<{ accountId: string; payerId: string }>(sql`
    select account_id as "accountId", ${payerOf(sql`account_id`)} as "payerId" from members where user_id = ${userId} order by account_id`)

/** The user of a sign-in, and whether he signed in from that address before. */
export const findSignIn = (db: Queries, email: string, ip: string) =>
  db.maybe<UserRow & { is_known_address: boolean }>(sql`
    select ${allColumns('users', 'p')},
      exists (select from known_ips k where k.user_id = p.id and k.address = ${clientNetwork(ip)}) as is_known_address
    from users p where lower(p.email) = lower(${email})`)

export const lockUser = (tx: Tx, id: string) =>
  tx.maybe<UserRow>(sql`select ${allColumns('users')} from users where id = ${id} for no key update`)

export const hasOperator = async (db: Queries): Promise<boolean> =>
  (await db.maybe(sql`select from users where is_operator limit 1`)) !== undefined

export interface ListedUser extends UserRow {
  last_seen_at: Date | null
  account_ids: string[]
  /** In the account; null where all users are listed. */
  role: Row<'members'>['role'] | null
}

export const listUsers = (db: Queries, accountId: string | null) =>
  db.many<ListedUser>(sql`
    select ${allColumns('users', 'p')}, (select max(last_used_at) from known_ips a where a.user_id = p.id) as last_seen_at,
      ${accountIds(sql`p.id`)} as account_ids, m.role
    from users p left join members m on m.user_id = p.id and m.account_id = ${accountId}
    where ${accountId}::text is null or m.account_id is not null order by p.id`)

export const setPassword = (tx: Tx, id: string, hash: string) => tx.run(sql`update users set password_hash = ${hash} where id = ${id}`)

export const setName = (tx: Tx, id: string, name: string) => tx.run(sql`update users set name = ${name} where id = ${id}`)

/** Of mails. */
export const setLanguage = (tx: Tx, id: string, language: string) =>
  tx.run(sql`update users set language = ${language} where id = ${id} and language is distinct from ${language}`)

export const setOperator = (tx: Tx, id: string, is: boolean) => tx.run(sql`update users set is_operator = ${is} where id = ${id}`)

export const setTotp = (tx: Tx, id: string, { secret, enabledAt }: { secret: Buffer | null; enabledAt: Date | null }) =>
  tx.run(sql`update users set totp_secret = ${secret}, totp_enabled_at = ${enabledAt} where id = ${id}`)

/** Changes nothing when a code of this time step or a later one was used before. */
export const spendStep = (tx: Tx, id: string, step: bigint) =>
  tx.run(sql`update users set totp_step = ${step} where id = ${id} and totp_step < ${step}`)

export const insertRecoveryCodes = (tx: Tx, now: Date, userId: string, hashes: Buffer[]) =>
  tx.run(sql`
    insert into recovery_codes (user_id, hash, created_at)
    select ${userId}, hash, ${now} from unnest(${hashes}::bytea[]) as hash`)

/** A concurrent use of the same code deletes no row. */
export const takeRecoveryCode = (tx: Tx, userId: string, hash: Buffer) =>
  tx.run(sql`delete from recovery_codes where user_id = ${userId} and hash = ${hash}`)

export const dropRecoveryCodes = (tx: Tx, userId: string) => tx.run(sql`delete from recovery_codes where user_id = ${userId}`)

export const countRecoveryCodes = async (db: Queries, userId: string): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from recovery_codes where user_id = ${userId}`)).count

export interface NewLink {
  hash: Buffer
  kind: 'welcome' | 'password' | 'sign_up'
  user_id: string | null
  /** Of a sign-up. */
  email: string | null
  name: string | null
  created_at: Date
  expires_at: Date
}

export const insertLink = (tx: Queries, row: NewLink) =>
  tx.run(sql`
    insert into one_time_links (hash, kind, user_id, email, name, created_at, expires_at)
    values (${row.hash}, ${row.kind}, ${row.user_id}, ${row.email}, ${row.name}, ${row.created_at}, ${row.expires_at})`)

/** Whether the link could be used at this moment. */
export const isUsableLink = async (db: Queries, now: Date, kind: NewLink['kind'], hash: Buffer): Promise<boolean> =>
  (await db.maybe(sql`select from one_time_links where hash = ${hash} and kind = ${kind} and expires_at > ${now}`)) !== undefined

/** Returns the link's user; no row when the link is used or expired. */
export const takePasswordLink = (tx: Tx, now: Date, hash: Buffer) =>
  tx.maybe<{ user_id: NotNull<string> }>(
    sql`delete from one_time_links where hash = ${hash} and kind = 'password' and expires_at > ${now} returning user_id`,
  )

/** Deletes all links of the sign-up's address, so that one account is made. */
export const takeSignUpLink = (tx: Tx, now: Date, hash: Buffer) =>
  tx.maybe<{ email: NotNull<string>; name: string | null }>(sql`
    with used as (select email, name from one_time_links where hash = ${hash} and kind = 'sign_up' and expires_at > ${now}),
      gone as (delete from one_time_links l using used where l.kind = 'sign_up' and lower(l.email) = lower(used.email) returning l.hash)
    select used.email, used.name from used where exists (select from gone where gone.hash = ${hash})`)

/** Deletes all welcome links at once, so that of several holders only one becomes the owner. */
export const takeWelcomeLinks = (tx: Tx) =>
  tx.many<{ hash: Buffer; expires_at: Date }>(sql`delete from one_time_links where kind = 'welcome' returning hash, expires_at`)

export const dropLinksOf = (tx: Tx, userId: string) => tx.run(sql`delete from one_time_links where user_id = ${userId}`)

export const dropOldLinks = (db: Queries, now: Date) => db.run(sql`delete from one_time_links where expires_at <= ${now}`)

export const noteAddress = (tx: Tx, now: Date, userId: string, ip: string) =>
  tx.run(sql`
    insert into known_ips (user_id, address, last_used_at) values (${userId}, ${clientNetwork(ip)}, ${now})
    on conflict (user_id, address) do update set last_used_at = excluded.last_used_at`)

export const dropOldAddresses = (db: Queries, before: Date) => db.run(sql`delete from known_ips where last_used_at < ${before}`)
