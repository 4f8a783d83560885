import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import { membersOf, payerOf, payingTogether } from '../accounts/service.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type MemberRow = Row<'members'>
export type InvitationRow = Row<'invitations'>

export interface ShownMember extends MemberRow {
  /** Of a project: as owner or admin of the account that pays. */
  is_inherited: boolean
  /** Where the row is: the account, or the one that pays for it. */
  member_of: string
  email: string
  name: string
  has_totp: boolean
}

const shown = sql`${allColumns('members', 'm')}, m.is_inherited, m.member_of, u.email, u.name, u.totp_enabled_at is not null as has_totp`

export const countMembers = async (db: Queries, accountId: string): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from ${membersOf(sql`${accountId}`)} m`)).count)

export const listMembers = (db: Queries, accountId: string, range: PageRange) =>
  db.many<ShownMember>(sql`
    select ${shown} from ${membersOf(sql`${accountId}`)} m join users u on u.id = m.user_id where true ${newestFirst(sql`m.user_id`, range)}`)

export const findMember = (db: Queries, accountId: string, userId: string) =>
  db.maybe<ShownMember>(sql`
    select ${shown} from ${membersOf(sql`${accountId}`)} m join users u on u.id = m.user_id where m.user_id = ${userId}`)

/** Holds the member against removal and change until the transaction ends. */
export const holdMember = async (tx: Tx, accountId: string, userId: string): Promise<ShownMember | undefined> => {
  const held = tx.run(sql`
    select from members where account_id in (${accountId}, ${payerOf(sql`${accountId}`)}) and user_id = ${userId} order by account_id for share`)
  return (await Promise.all([held, findMember(tx, accountId, userId)]))[1]
}

export const isMember = async (db: Queries, accountId: string, email: string): Promise<boolean> =>
  (await db.maybe(sql`
    select from ${membersOf(sql`${accountId}`)} m join users u on u.id = m.user_id where lower(u.email) = lower(${email})`)) !== undefined

/** People in an account and its projects, with those who are invited. */
export const countPlaces = async (db: Queries, now: Date, accountId: string): Promise<number> =>
  Number(
    (
      await db.one<{ count: bigint }>(sql`
        select (select count(distinct user_id) from members where account_id in ${payingTogether(sql`${accountId}`)})
          + (select count(*) from invitations where account_id in ${payingTogether(sql`${accountId}`)} and ${isOpen(now)}) as count`)
    ).count,
  )

export const countAccountsOf = async (db: Queries, userId: string): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from members where user_id = ${userId}`)).count)

export const countOwners = async (tx: Tx, accountId: string): Promise<number> =>
  Number((await tx.one<{ count: bigint }>(sql`select count(*) from ${membersOf(sql`${accountId}`)} m where role = 'owner'`)).count)

export const insertMember = (tx: Tx, row: MemberRow) =>
  tx.run(sql`
    insert into members (account_id, user_id, role, scopes, created_at)
    values (${row.account_id}, ${row.user_id}, ${row.role}, ${row.scopes}, ${row.created_at}) on conflict do nothing`)

export const setRole = (tx: Tx, accountId: string, userId: string, role: MemberRow['role'], scopes: string[]) =>
  tx.run(sql`update members set role = ${role}, scopes = ${scopes} where account_id = ${accountId} and user_id = ${userId}`)

export const deleteMember = (tx: Tx, accountId: string, userId: string) =>
  tx.run(sql`delete from members where account_id = ${accountId} and user_id = ${userId}`)

export const deleteFromProjects = (tx: Tx, payerId: string, userId: string) =>
  tx.many<MemberRow>(sql`
    delete from members m using accounts a where a.id = m.account_id and a.payer_account_id = ${payerId} and m.user_id = ${userId}
    returning ${allColumns('members', 'm')}`)

export const lockMembers = (tx: Tx, accountId: string) =>
  tx.run(sql`select from members where account_id = ${accountId} order by user_id for update`)

export const deleteMembers = (tx: Tx, accountId: string) =>
  tx.many<{ user_id: string }>(sql`delete from members where account_id = ${accountId} returning user_id`)

export const revokeAllInvitations = (tx: Tx, accountId: string) =>
  tx.many<{ id: string }>(sql`
    update invitations set status = 'REVOKED', mail_due_at = null where account_id = ${accountId} and status = 'OPEN' returning id`)

/** The version before gives a user every right in the account of the row: that must be one the user owns, and no project, of which it knows nothing. */
export const alignHome = (tx: Tx, accountId: string, userId: string) =>
  tx.run(sql`
    update users u set account_id = case when owns then coalesce(u.account_id, ${accountId}) else nullif(u.account_id, ${accountId}) end
    from (select exists (select from members m join accounts a on a.id = m.account_id and a.payer_account_id is null
      where m.account_id = ${accountId} and m.user_id = ${userId} and m.role = 'owner') as owns) found
    where u.id = ${userId}`)

const isOpen = (now: Date) => sql`status = 'OPEN' and expires_at > ${now}`

export const countInvitations = async (db: Queries, now: Date, accountId: string): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from invitations where account_id = ${accountId} and ${isOpen(now)}`)).count)

export const listInvitations = (db: Queries, now: Date, accountId: string, range: PageRange) =>
  db.many<InvitationRow>(sql`
    select ${allColumns('invitations')} from invitations where account_id = ${accountId} and ${isOpen(now)} ${newestFirst(sql`id`, range)}`)

export const listInvitationsBy = (tx: Tx, accountId: string, userId: string) =>
  tx.many<InvitationRow>(sql`
    select ${allColumns('invitations')} from invitations where account_id = ${accountId} and invited_by = ${userId} and status = 'OPEN'`)

/** How many invitations an account and its projects have made since then, also those that have ended. */
export const countSince = async (tx: Tx, accountId: string, since: Date): Promise<number> =>
  Number(
    (
      await tx.one<{ count: bigint }>(
        sql`select count(*) from invitations where account_id in ${payingTogether(sql`${accountId}`)} and created_at > ${since}`,
      )
    ).count,
  )

/** How many mails with invitations an address was sent since then, by all accounts. The lock keeps two from being counted at once. */
export async function countMailsTo(tx: Tx, email: string, since: Date): Promise<number> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('invitation ' || lower(${email}), 0))`)
  const { count } = await tx.one<{ count: bigint }>(sql`
    select count(*) from invitations where lower(email) = lower(${email}) and is_mailed and created_at > ${since}`)
  return Number(count)
}

export const insertInvitation = (tx: Tx, row: InvitationRow) =>
  tx.maybe<InvitationRow>(sql`
    insert into invitations (${allColumns('invitations')})
    values (${row.id}, ${row.account_id}, ${row.email}, ${row.role}, ${row.scopes}, ${row.hash}, ${row.invited_by}, ${row.inviter_name},
      ${row.is_mailed}, ${row.link_base}, ${row.mail_attempts}, ${row.mail_due_at}, ${row.status}, ${row.created_at}, ${row.expires_at})
    on conflict do nothing returning ${allColumns('invitations')}`)

/** Makes room for another invitation of the address. */
export const expireInvitation = (tx: Tx, now: Date, accountId: string, email: string) =>
  tx.run(sql`
    update invitations set status = 'EXPIRED', mail_due_at = null
    where account_id = ${accountId} and lower(email) = lower(${email}) and status = 'OPEN' and expires_at <= ${now}`)

export const revokeInvitations = (tx: Tx, now: Date, accountId: string, ids: string[]) =>
  tx.run(sql`
    update invitations set status = 'REVOKED', mail_due_at = null
    where account_id = ${accountId} and id = any(${ids}::text[]) and ${isOpen(now)}`)

export const findByLink = (db: Queries, now: Date, hash: Buffer) =>
  db.maybe<InvitationRow>(sql`select ${allColumns('invitations')} from invitations where hash = ${hash} and ${isOpen(now)}`)

/** Of several who use a link at once, one gets the row. */
export const acceptInvitation = (tx: Tx, now: Date, id: string) =>
  tx.run(sql`update invitations set status = 'ACCEPTED', mail_due_at = null where id = ${id} and ${isOpen(now)}`)

/** Each takes the next link: only its hash is stored, so one whose mail may not have arrived is replaced. */
export const claimMail = (tx: Tx, now: Date, hash: Buffer, dueAt: Date) =>
  tx.maybe<InvitationRow>(sql`
    with due as (
      select id from invitations where mail_due_at <= ${now} and ${isOpen(now)} order by mail_due_at limit 1 for update skip locked)
    update invitations i set hash = ${hash}, mail_attempts = mail_attempts + 1, mail_due_at = ${dueAt} from due where i.id = due.id
    returning ${allColumns('invitations', 'i')}`)

/** `hash` is that of the link which was sent. */
export const endMailing = (db: Queries, id: string, hash: Buffer) =>
  db.run(sql`update invitations set mail_due_at = null where id = ${id} and hash = ${hash}`)

export const isSameAddress = async (db: Queries, one: string, other: string): Promise<boolean> =>
  (await db.one<{ same: boolean }>(sql`select lower(${one}::text) = lower(${other}::text) as same`)).same

export const dropOld = (db: Queries, before: Date) =>
  db.run(sql`
    with old as (delete from invitations where expires_at < ${before} returning id)
    delete from budgets b using old where b.subject_type = 'INVITATION' and b.subject_id = old.id`)
