import { sql, type NotNull, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type AccountRow = Row<'accounts'>

/** One that pays for itself. */
export interface PayerRow extends Omit<AccountRow, 'email'> {
  email: NotNull<string>
}

export type TokenRow = Row<'api_tokens'>

/** SQL expression: the account that pays for an account, itself where it is no project. */
export const payerOf = (accountId: Sql): Sql =>
  sql`coalesce((select y.payer_account_id from accounts y where y.id = ${accountId}), ${accountId})`

/** SQL subquery: the ids of an account and of its projects. */
export const withProjects = (payerId: Sql): Sql =>
  sql`(select ${payerId} as id union all select y.id from accounts y where y.payer_account_id = ${payerId})`

/** SQL subquery: the ids of all accounts with the payer of this one. Whatever is limited is limited for all of them together. */
export const payingTogether = (accountId: Sql): Sql => withProjects(payerOf(accountId))

/** SQL subquery, as `shareOf`: the ids of the account or, of a project, of all with its payer. */
export const sharing = (accountId: Sql): Sql =>
  sql`(select ${accountId} as id union select y.id from accounts x join accounts y on y.payer_account_id = x.payer_account_id where x.id = ${accountId})`

/** SQL condition on the row of accounts of this name: whether its members need a second factor; in a project also where its payer says so. */
export const requiresTotp = (account: Sql): Sql =>
  sql`(${account}.requires_totp or exists (select from accounts y where y.id = ${account}.payer_account_id and y.requires_totp))`

/** SQL expression on the row of accounts of this name, for operators: its address, of a project that of its payer. */
export const contactOf = (account: Sql): Sql =>
  sql`coalesce(${account}.email, (select y.email from accounts y where y.id = ${account}.payer_account_id))`

/**
 * SQL subquery: rows of `members`, and those that follow from them: owners and admins of a payer are the same in its projects, whatever else they
 * are there. The names of its tables are none of those that `where` may take from around it.
 */
const memberships = (ofStored: Sql, ofInherited: Sql): Sql => sql`(
  select stored.account_id, stored.user_id, stored.role, stored.scopes, stored.created_at, false as is_inherited, stored.account_id as member_of from members stored
  where ${ofStored} and not exists (select from accounts inheriting join members heir on heir.account_id = inheriting.payer_account_id
    where inheriting.id = stored.account_id and heir.user_id = stored.user_id and heir.role in ('owner', 'admin'))
  union all
  select inheriting.id, heir.user_id, heir.role, heir.scopes, heir.created_at, true, heir.account_id from accounts inheriting
  join members heir on heir.account_id = inheriting.payer_account_id and heir.role in ('owner', 'admin')
  where ${ofInherited} and inheriting.deleted_at is null)`

/** SQL subquery, by `memberships`: of a user. */
export const membershipsOf = (userId: Sql): Sql => memberships(sql`stored.user_id = ${userId}`, sql`heir.user_id = ${userId}`)

/** SQL subquery, by `memberships`: of an account. */
export const membersOf = (accountId: Sql): Sql => memberships(sql`stored.account_id = ${accountId}`, sql`inheriting.id = ${accountId}`)

export const listMemberships = (db: Queries, accountId: string) =>
  db.many<{ user_id: string; member_of: string }>(sql`select m.user_id, m.member_of from ${membersOf(sql`${accountId}`)} m`)

export const findMemberOf = async (tx: Tx, accountId: string, userId: string): Promise<string | undefined> =>
  (await tx.maybe<{ member_of: string }>(sql`select m.member_of from ${membersOf(sql`${accountId}`)} m where m.user_id = ${userId}`))
    ?.member_of

export const insertAccount = (tx: Tx, row: Pick<AccountRow, 'id' | 'name' | 'created_at'> & { email: string }) =>
  tx.maybe<PayerRow>(sql`
    insert into accounts (id, email, name, created_at) values (${row.id}, ${row.email}, ${row.name}, ${row.created_at})
    on conflict do nothing returning ${allColumns('accounts')}`)

export const setAddress = (tx: Tx, id: string, email: string, name: string) =>
  tx.one<PayerRow>(sql`update accounts set email = ${email}, name = ${name} where id = ${id} returning ${allColumns('accounts')}`)

/** Null leaves a value as it is. */
export const updateAccount = (tx: Tx, id: string, name: string | null, requiresTotp: boolean | null) =>
  tx.one<AccountRow>(sql`
    update accounts set name = coalesce(${name}, name), requires_totp = coalesce(${requiresTotp}, requires_totp) where id = ${id}
    returning ${allColumns('accounts')}`)

/** Its members change one after another. Taken before the rows of members, tokens and invitations; of a project with its payer, whose members are its own. */
export const lockAccount = async (tx: Tx, id: string): Promise<AccountRow> => {
  const payer = tx.run(sql`select from accounts where id = (select payer_account_id from accounts where id = ${id}) for no key update`)
  const account = tx.one<AccountRow>(sql`select ${allColumns('accounts')} from accounts where id = ${id} for no key update`)
  return (await Promise.all([payer, account]))[1]
}

export const findAccount = (db: Queries, idOrEmail: string) =>
  db.maybe<AccountRow>(sql`select ${allColumns('accounts')} from accounts where id = ${idOrEmail} or lower(email) = lower(${idOrEmail})`)

export const listWithProjects = (db: Queries, id: string) =>
  db.many<AccountRow>(sql`
    select ${allColumns('accounts')} from accounts where id in ${withProjects(sql`${id}`)} and deleted_at is null order by id`)

export const listAccounts = (db: Queries) =>
  db.many<AccountRow>(sql`select ${allColumns('accounts')} from accounts where deleted_at is null order by id`)

export const insertProject = (tx: Tx, row: Pick<AccountRow, 'id' | 'name' | 'payer_account_id' | 'created_at'>) =>
  tx.run(sql`
    insert into accounts (id, name, payer_account_id, created_at) values (${row.id}, ${row.name}, ${row.payer_account_id}, ${row.created_at})`)

/** Whether the version before can still come back: to it a project would be an account that pays for itself. */
export const areProjectsBarred = async (db: Queries): Promise<boolean> =>
  (await db.maybe(sql`select from pg_constraint where conname = 'accounts_no_projects' and conrelid = 'accounts'::regclass`)) !== undefined

/** Until the transaction ends, nothing begins to refer to it. */
export const lockProject = (tx: Tx, payerId: string, id: string) =>
  tx.maybe<AccountRow>(sql`
    select ${allColumns('accounts')} from accounts where id = ${id} and payer_account_id = ${payerId} and deleted_at is null for update`)

export const markDeleted = (tx: Tx, id: string, now: Date) => tx.run(sql`update accounts set deleted_at = ${now} where id = ${id}`)

/** With its projects. */
export const suspendWithProjects = (tx: Tx, id: string, at: Date | null, why: string | null) =>
  tx.run(sql`
    update accounts set suspended_at = ${at}, suspension_reason = ${why} where id in ${withProjects(sql`${id}`)} and deleted_at is null`)

/** SQL condition, for use inside another statement. A project is suspended with its payer. */
export const isSuspended = (accountId: Sql): Sql =>
  sql`exists (select from accounts s where s.id = ${accountId} and s.suspended_at is not null)`

export const insertToken = (tx: Tx, row: TokenRow) =>
  tx.run(sql`
    insert into api_tokens (id, account_id, name, prefix, hash, scopes, requests_per_minute, allowed_ips, expires_at, created_at,
      ancestor_ids, created_by)
    values (${row.id}, ${row.account_id}, ${row.name}, ${row.prefix}, ${row.hash}, ${row.scopes}, ${row.requests_per_minute},
      ${row.allowed_ips}, ${row.expires_at}, ${row.created_at}, ${row.ancestor_ids}, ${row.created_by})`)

/** `is_orphaned`: one that it was made with was revoked or deleted by a version of Berth that did not know what was made with it. */
export const findTokensByHash = (db: Queries, hashes: Buffer[]) =>
  db.many<
    TokenRow & { payer_id: string; member_of: string | null; is_orphaned: boolean; maker_email: string | null; has_budget: boolean }
  >(sql`
    select ${allColumns('api_tokens', 't')}, ${payerOf(sql`t.account_id`)} as payer_id, mine.member_of, cardinality(t.ancestor_ids)
      > (select count(*) from api_tokens a where a.id = any(t.ancestor_ids) and a.revoked_at is null) as is_orphaned,
      (select email from users u where u.id = t.created_by) as maker_email,
      exists(select from budgets b where b.subject_type = 'TOKEN' and b.subject_id = any(t.ancestor_ids || t.id))
        or exists(select from budgets b where b.subject_type = 'MEMBER' and b.subject_id = mine.member_of || '/' || t.created_by)
        or exists(select from budgets b where b.subject_type = 'PROJECT' and b.subject_id = t.account_id) as has_budget
    from api_tokens t left join lateral ${membersOf(sql`t.account_id`)} mine on mine.user_id = t.created_by where hash = any(${hashes}::bytea[])`)

export const countTokens = async (db: Queries, accountId: string): Promise<number> =>
  Number((await db.one<{ count: bigint }>(sql`select count(*) from api_tokens where account_id = ${accountId}`)).count)

export const listTokenPage = (db: Queries, accountId: string, range: PageRange) =>
  db.many<TokenRow>(sql`select ${allColumns('api_tokens')} from api_tokens where account_id = ${accountId} ${newestFirst(sql`id`, range)}`)

export const findToken = (db: Queries, accountId: string, id: string) =>
  db.maybe<TokenRow>(sql`select ${allColumns('api_tokens')} from api_tokens where id = ${id} and account_id = ${accountId}`)

export const listTokens = (db: Queries, accountId: string | null) =>
  db.many<TokenRow & { email: string }>(sql`
    select ${allColumns('api_tokens', 't')}, ${contactOf(sql`a`)} as email from api_tokens t join accounts a on a.id = t.account_id
    where ${accountId}::text is null or t.account_id = ${accountId} order by t.id`)

export const lockToken = (tx: Tx, id: string) =>
  tx.maybe<TokenRow>(sql`select ${allColumns('api_tokens')} from api_tokens where id = ${id} for no key update`)

export const lockDescendants = (tx: Tx, accountId: string, id: string) =>
  tx.many<TokenRow>(sql`
    select ${allColumns('api_tokens')} from api_tokens where account_id = ${accountId} and ancestor_ids @> array[${id}] order by id for no key update`)

/** In the order in which they were made. */
export const findTokens = (tx: Tx, ids: string[]) =>
  tx.many<TokenRow>(sql`select ${allColumns('api_tokens')} from api_tokens where id = any(${ids}::text[]) order by id`)

/** Until the transaction ends no other makes, changes or deletes a token of the account. */
export const lockTokensOfAccount = (tx: Tx, lock: bigint) => tx.run(sql`select pg_advisory_xact_lock(${lock}::int8)`)

export const renameToken = (tx: Tx, id: string, name: string) =>
  tx.maybe<TokenRow>(sql`update api_tokens set name = ${name} where id = ${id} returning ${allColumns('api_tokens')}`)

export const setTokenLimits = (tx: Tx, id: string, row: Pick<TokenRow, 'scopes' | 'expires_at' | 'allowed_ips' | 'requests_per_minute'>) =>
  tx.maybe<TokenRow>(sql`
    update api_tokens set scopes = ${row.scopes}, expires_at = ${row.expires_at}, allowed_ips = ${row.allowed_ips},
      requests_per_minute = ${row.requests_per_minute}
    where id = ${id} returning ${allColumns('api_tokens')}`)

export const revokeToken = (tx: Tx, id: string, at: Date) =>
  tx.maybe<TokenRow>(
    sql`update api_tokens set revoked_at = coalesce(revoked_at, ${at}) where id = ${id} returning ${allColumns('api_tokens')}`,
  )

/** Whether each token is still usable; deleted tokens are missing from the result. */
export const tokenStates = (db: Queries, now: Date, ids: string[]) =>
  db.many<{ id: string; usable: boolean }>(sql`
    select id, revoked_at is null and (expires_at is null or expires_at > ${now}) as usable from api_tokens where id = any(${ids}::text[])`)

export const deleteToken = (tx: Tx, id: string) =>
  tx.maybe<TokenRow>(sql`delete from api_tokens where id = ${id} returning ${allColumns('api_tokens')}`)

/** Of the tokens that a person made in an account and that work, those that can do more than `allowed`. */
export const findTokensBeyond = (tx: Tx, accountId: string, userId: string, allowed: string[]) =>
  tx.many<TokenRow>(sql`
    select ${allColumns('api_tokens')} from api_tokens
    where account_id = ${accountId} and created_by = ${userId} and revoked_at is null and not scopes <@ ${allowed}::text[] order by id`)

export const notifyTokenChange = (tx: Tx, hash: Buffer) => tx.run(sql`select pg_notify('berth_tokens', ${hash.toString('hex')})`)

/** In an account and its projects; of a person, or all of them. */
export const notifyTokensOf = (tx: Tx, accountId: string, userId: string | null) =>
  tx.run(sql`
    select pg_notify('berth_tokens', encode(hash, 'hex')) from api_tokens
    where account_id in ${withProjects(sql`${accountId}`)} and (${userId}::text is null or created_by = ${userId}) and revoked_at is null`)

/** Returns the ids of those that were written: what others hold is skipped, so that nobody waits for a batch that waits for others. */
export const markTokensUsed = (db: Queries, uses: { id: string; at: Date; ip: string }[]) =>
  db.many<{ id: string }>(sql`
    update api_tokens t set last_used_at = greatest(t.last_used_at, u.at), last_used_ip = u.ip
    from (select id from api_tokens where id = any(${uses.map((use) => use.id)}::text[]) for no key update skip locked) held,
      unnest(${uses.map((use) => use.id)}::text[], ${uses.map((use) => use.at)}::timestamptz[], ${uses.map((use) => use.ip)}::text[]) as u(id, at, ip)
    where t.id = held.id and u.id = held.id returning t.id`)

export interface QuotaRow {
  name: string
  /** Null for a limit per parent, such as snapshots of one VM. */
  used: bigint | null
  limit: bigint
  is_default: boolean
}

/**
 * Returns the quotas with enough capacity left, and none while one of them has no counter row: whoever adds rows locks all in that order, and may
 * hold none before. Those of a project are its payer's. A suspended account gets nothing new but tickets, a deleted project nothing at all: whoever
 * deletes one waits for who reserves, and is waited for; not for who gives back, who may hold what is about to be deleted. Quotas are locked after
 * that and in a fixed order, because an update locks in the order of its query plan, which varies with statistics and connection.
 */
export const addToQuotas = (tx: Tx, accountId: string, amounts: Record<string, bigint>) =>
  tx.many<{ name: string }>(sql`
    with owner as (select coalesce(payer_account_id, id) as payer_id, suspended_at, deleted_at from accounts where id = ${accountId}
      ${Object.values(amounts).some((amount) => amount > 0n) ? sql`for key share` : sql``})
    update account_quotas q set used = used + more.amount
    from owner, (select name from account_quotas where account_id = (select payer_id from owner) and name = any(${Object.keys(amounts)}::text[])
        and (select count(*) from account_quotas where account_id = (select payer_id from owner) and name = any(${Object.keys(amounts)}::text[]))
          = ${Object.keys(amounts).length}
        order by name for no key update) held,
      unnest(${Object.keys(amounts)}::text[], ${Object.values(amounts)}::int8[]) as more(name, amount)
    where account_id = owner.payer_id and q.name = held.name and more.name = held.name and (more.amount <= 0 or used + more.amount <= coalesce(limit_override,
      (select value from catalog_values n where n.name = 'quota.' || q.name)))
      and (more.amount <= 0 or owner.deleted_at is null and (q.name = 'open_tickets' or owner.suspended_at is null))
    returning q.name`)

/** Whatever the limit is: of what exists already. */
export const recountQuota = (tx: Tx, accountId: string, name: string, more: bigint) =>
  tx.run(sql`update account_quotas set used = used + ${more} where account_id = ${payerOf(sql`${accountId}`)} and name = ${name}`)

export const ensureQuota = (tx: Tx, accountId: string, name: string) =>
  tx.run(sql`insert into account_quotas (account_id, name) values (${payerOf(sql`${accountId}`)}, ${name}) on conflict do nothing`)

/** SQL subquery, for use inside another statement; null when the quota has no counter row. */
export const findQuotaUsed = (db: Queries, accountId: string, name: string) =>
  db.maybe<{ used: bigint }>(sql`select used from account_quotas where account_id = ${payerOf(sql`${accountId}`)} and name = ${name}`)

export const setQuotaLimit = (tx: Tx, accountId: string, name: string, limit: bigint | null) =>
  tx.run(sql`
    insert into account_quotas (account_id, name, limit_override) values (${accountId}, ${name}, ${limit})
    on conflict (account_id, name) do update set limit_override = ${limit}`)

export const listQuotas = (db: Queries, accountId: string) =>
  db.many<QuotaRow>(sql`
    select substr(n.name, 7) as name, case when strpos(n.name, '_per_') = 0 then coalesce(q.used, 0) end as used,
      coalesce(q.limit_override, n.value) as limit, q.limit_override is null as is_default
    from catalog_values n left join account_quotas q on q.account_id = ${payerOf(sql`${accountId}`)} and q.name = substr(n.name, 7)
    where n.name like 'quota.%' order by 1`)
