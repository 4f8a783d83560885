// The wallet of a project is that of its payer, whose ledger names the project. Only lists are asked for by the payer.
import { json, sql, type NotNull, type Queries, type Sql, type Tx } from '../../kernel/database/db.ts'
import type { PageRange } from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { payerOf, withProjects } from '../accounts/service.ts'
import { meets } from '../labels/service.ts'
import type { TransactionType } from './schema.ts'

export type WalletRow = Row<'wallets'>

export interface TransactionRow extends Omit<Row<'wallet_transactions'>, 'price_parts'> {
  price_parts: { part: string; cents: string }[] | null
}

export type NewTransaction = Omit<TransactionRow, 'number' | 'balance_after_cents' | 'project_id' | 'project_name'>

const payer = (accountId: string): Sql => payerOf(sql`${accountId}`)

export const findWallet = (db: Queries, accountId: string) =>
  db.maybe<WalletRow>(sql`select ${allColumns('wallets')} from wallets where account_id = ${payer(accountId)}`)

export const listWallets = (db: Queries) => db.many<WalletRow>(sql`select ${allColumns('wallets')} from wallets`)

export const ensureWallet = (tx: Tx, accountId: string) =>
  tx.run(sql`insert into wallets (account_id) values (${payer(accountId)}) on conflict do nothing`)

export const lockWallet = (tx: Tx, accountId: string) =>
  tx.maybe<WalletRow>(sql`select ${allColumns('wallets')} from wallets where account_id = ${payer(accountId)} for no key update`)

export const addMoney = (tx: Tx, entry: NewTransaction) =>
  append(
    tx,
    entry,
    sql`
      insert into wallets as w (account_id, balance_cents, transaction_count) values (${payer(entry.account_id)}, ${entry.amount_cents}, 1)
      on conflict (account_id) do update set
        balance_cents = w.balance_cents + excluded.balance_cents, transaction_count = w.transaction_count + 1`,
  )

/** `entry.amount_cents` is negative. Returns no row when the balance is too low. */
export const takeMoney = (tx: Tx, entry: NewTransaction) =>
  append(
    tx,
    entry,
    sql`
      update wallets w set balance_cents = balance_cents + ${entry.amount_cents}::int8, transaction_count = transaction_count + 1
      where account_id = ${payer(entry.account_id)} and balance_cents + ${entry.amount_cents}::int8 >= 0`,
  )

/** One statement changes the wallet and appends the ledger entry: number and balance are read under the row lock. */
const append = (tx: Tx, entry: NewTransaction, change: Sql) =>
  tx.maybe<TransactionRow>(sql`
    with changed as (${change} returning w.account_id, w.transaction_count, w.balance_cents)
    insert into wallet_transactions (id, account_id, number, type, amount_cents, balance_after_cents, description, reference_type,
      reference_id, created_at, price_parts, project_id, project_name)
    select ${entry.id}, account_id, transaction_count, ${entry.type}, ${entry.amount_cents}::int8, balance_cents,
      ${entry.description}, ${entry.reference_type}, ${entry.reference_id}, ${entry.created_at}::timestamptz,
      ${entry.price_parts === null ? null : json(entry.price_parts)}::jsonb, p.id, p.name
    from changed left join accounts p on p.id = ${entry.account_id} and p.payer_account_id is not null returning ${allColumns('wallet_transactions')}`)

export type OrderRow = Row<'wallet_adjustments'>

export const insertOrder = (tx: Tx, row: OrderRow) =>
  tx.run(sql`
    insert into wallet_adjustments (id, account_id, amount_cents, reason, created_at)
    values (${row.id}, ${row.account_id}, ${row.amount_cents}, ${row.reason}, ${row.created_at})`)

/** The charged and not yet refunded sum of a reference. */
export const netPaidFor = (tx: Tx, accountId: string, referenceId: string) =>
  tx.one<{ cents: bigint }>(sql`
    select -coalesce(sum(amount_cents), 0)::int8 as cents from wallet_transactions
    where reference_id = ${referenceId} and account_id = ${payer(accountId)}`)

export const netPaidSince = (tx: Tx, accountId: string, referenceId: string, since: Date) =>
  tx.one<{ cents: bigint }>(sql`
    select -coalesce(sum(amount_cents), 0)::int8 as cents from wallet_transactions
    where reference_id = ${referenceId} and account_id = ${payer(accountId)} and created_at >= ${since} and type <> 'BANDWIDTH_PACK'`)

/**
 * Numbers have no gap, so a page is a range of them and costs the same at any depth. Without a LIMIT, whose value would influence the
 * plan, the plan is cached instead of built for every page. An empty page is one row without an id.
 */
export const listNewest = (db: Queries, accountId: string, { limit, offset, after }: PageRange) =>
  db.many<{ transaction_count: number } & (TransactionRow | { id: null })>(sql`
    select w.transaction_count, ${allColumns('wallet_transactions', 't')} from wallets w
    cross join lateral (select ${after ? before(accountId, after) : sql`w.transaction_count - ${offset}::int8`} as newest) e
    left join wallet_transactions t
      on t.account_id = w.account_id and t.number <= e.newest and t.number > e.newest - ${limit}::int8
    where w.account_id = ${accountId} order by t.number desc`)

/** The number before an entry's; null when there is no such entry. */
const before = (accountId: string, after: string[]): Sql =>
  sql`(select number - 1 from wallet_transactions where id = ${after[0]} and account_id = ${accountId})`

/** Of an account all that it has paid, of a project what was paid for it. */
export interface Filter {
  type: TransactionType | null
  from: Date | null
  /** Exclusive. */
  before: Date | null
  referenceId?: string | undefined
  /** Null: of none. */
  projectId?: string | null | undefined
  kind?: 'COST' | 'PAYMENT' | undefined
  /** Of what it was paid for. */
  labelSelector?: string | undefined
}

/** Money that came in or was reversed; all other types are purchases and their refunds. */
export const isPayment = sql`type in ('DEPOSIT', 'CREDIT', 'ADJUSTMENT')`

export const countMatching = async (db: Queries, accountId: string, filter: Filter): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from wallet_transactions where ${matching(accountId, filter)}`)).count

export const listMatching = (db: Queries, accountId: string, filter: Filter, { limit, offset, after }: PageRange) =>
  db.many<TransactionRow>(sql`
    select ${allColumns('wallet_transactions')} from wallet_transactions
    where ${matching(accountId, filter)} ${after ? sql`and number <= ${before(accountId, after)}` : sql``} order by number desc limit ${limit} offset ${offset}`)

/** Adds only the requested conditions, so that each combination has its own plan. */
export function matching(accountId: string, { type, from, before, referenceId, projectId, kind, labelSelector }: Filter): Sql {
  let condition = sql`account_id = ${accountId} and (${kind ?? null}::text is null or (${isPayment}) = (${kind ?? null} = 'PAYMENT'))`
  if (projectId) condition = sql`${condition} and project_id = ${projectId}`
  if (projectId === null) condition = sql`${condition} and project_id is null`
  if (labelSelector !== undefined) condition = sql`${condition} and ${isLabelled(accountId, labelSelector)}`
  if (type) condition = sql`${condition} and type = ${type}`
  if (referenceId) condition = sql`${condition} and reference_id = ${referenceId}`
  if (from) condition = sql`${condition} and created_at >= ${from}`
  if (before) condition = sql`${condition} and created_at < ${before}`
  return condition
}

/** What is unknown has no labels: a selector such as `!env` selects it. Each list of ids is read once, not for each entry. */
function isLabelled(accountId: string, labelSelector: string): Sql {
  const known = sql`select r.id from charged_resources r where r.account_id in ${withProjects(sql`${accountId}`)}`
  return sql`(reference_id in (${known} and ${meets(sql`r.labels`, labelSelector)})
    or ((select ${meets(sql`n.labels`, labelSelector)} from (select '{}'::jsonb as labels) n) and coalesce(reference_id not in (${known}), true)))`
}

export const findEntry = (db: Queries, accountId: string, id: string, projectId: string | null) =>
  db.maybe<TransactionRow>(sql`
    select ${allColumns('wallet_transactions')} from wallet_transactions
    where id = ${id} and account_id = ${accountId} and (${projectId}::text is null or project_id = ${projectId})`)

export interface ResourceRow {
  name: string
  labels: Record<string, string>
  is_deleted: NotNull<boolean>
}

export const findResource = (db: Queries, accountId: string, id: string) =>
  db.maybe<ResourceRow>(sql`
    select name, labels, is_deleted from charged_resources
    where id = ${id} and account_id in ${withProjects(sql`${accountId}`)} order by is_deleted limit 1`)

export interface CausingRun {
  id: string
  label: string
  status: Row<'workflow_runs'>['status']
  created_at: Date
}

/** The action of the same resource that was under way then: there is one at a time. A renewal is of none. */
export const findCausingRun = (db: Queries, { type, reference_id, created_at }: TransactionRow) =>
  db.maybe<CausingRun>(sql`
    select id, label, status, created_at from workflow_runs
    where subject_id = ${reference_id} and ${!/RENEWAL|ADDON|BANDWIDTH/.test(type)}::boolean
      and created_at <= ${created_at}::timestamptz + interval '1 second' and (completed_at is null or completed_at >= ${created_at})
    order by created_at desc limit 1`)

export interface CostRow {
  /** Null: for the account itself, or without the label. */
  key: string | null
  name: string | null
  resource_type: string | null
  is_deleted: boolean | null
  charged: bigint
  refunded: bigint
  entries: number
}

const sums = sql`
  coalesce(-sum(amount_cents) filter (where amount_cents < 0), 0)::int8 as charged,
  coalesce(sum(amount_cents) filter (where amount_cents > 0), 0)::int8 as refunded, count(*)::int as entries`
const nobody = sql`null::text as name, null::text as resource_type, null::boolean as is_deleted`

export const costsByType = (db: Queries, accountId: string, filter: Filter) =>
  db.many<CostRow>(sql`select type as key, ${nobody}, ${sums} from wallet_transactions where ${matching(accountId, filter)} group by type`)

/** By the name that the project had last. */
export const costsByProject = (db: Queries, accountId: string, filter: Filter) =>
  db.many<CostRow>(sql`
    select project_id as key, (array_agg(project_name order by number desc))[1] as name, null::text as resource_type, null::boolean as is_deleted, ${sums}
    from wallet_transactions where ${matching(accountId, filter)} group by project_id`)

const byReference = (accountId: string, filter: Filter): Sql => sql`
  select reference_id, min(reference_type) as resource_type, ${sums} from wallet_transactions where ${matching(accountId, filter)} group by reference_id`

export const costsByResource = (db: Queries, accountId: string, filter: Filter) =>
  db.many<CostRow>(sql`
    select p.reference_id as key, r.name, p.resource_type, coalesce(r.is_deleted, true) as is_deleted, p.charged, p.refunded, p.entries
    from (${byReference(accountId, filter)}) p left join lateral (
      select name, is_deleted from charged_resources where id = p.reference_id order by is_deleted limit 1) r on true`)

/** Each resource is in the group of the label that it has now, or had last. */
export const costsByLabel = (db: Queries, accountId: string, filter: Filter, label: string) =>
  db.many<CostRow>(sql`
    select r.value as key, ${nobody}, sum(p.charged)::int8 as charged, sum(p.refunded)::int8 as refunded, sum(p.entries)::int as entries
    from (${byReference(accountId, filter)}) p left join lateral (
      select labels ->> ${label} as value from charged_resources where id = p.reference_id order by is_deleted limit 1) r on true
    group by r.value`)

/** The balance at the end of each of these days, of UTC. */
export const balancesOf = (db: Queries, accountId: string, from: Date, days: number) =>
  db.many<{ day: string; balance_cents: bigint }>(sql`
    select to_char(d.until at time zone 'UTC' - interval '1 day', 'YYYY-MM-DD') as day, coalesce(t.balance_after_cents, 0)::int8 as balance_cents
    from (select ${from}::timestamptz + make_interval(hours => 24 * n) as until from generate_series(1, ${days}::int) n) d
    left join lateral (select balance_after_cents from wallet_transactions
      where account_id = ${accountId} and created_at < d.until order by created_at desc, number desc limit 1) t on true
    order by d.until`)
