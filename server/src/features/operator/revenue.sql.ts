// The ledger of a month, of all accounts. Every entry counts once, in exactly one row.
import { sql, type NotNull, type Queries } from '../../kernel/database/db.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { contactOf } from '../accounts/service.ts'

export interface RevenueRow {
  type: Row<'wallet_transactions'>['type']
  region: string | null
  cents: NotNull<bigint>
  count: number
}

/** The region is that of what the money was for, as long as that exists. */
export const revenueRows = (db: Queries, from: Date, to: Date) =>
  db.many<RevenueRow>(sql`
    select t.type, r.slug as region, sum(t.amount_cents)::int8 as cents, count(*)::int as count
    from wallet_transactions t
      left join vms v on t.reference_type = 'VM' and v.id = t.reference_id
      left join addresses a on t.reference_type = 'ADDRESS' and a.id = t.reference_id
      left join volumes o on t.reference_type = 'VOLUME' and o.id = t.reference_id
      left join regions r on r.id = coalesce(v.region_id, a.region_id, o.region_id)
    where t.created_at >= ${from} and t.created_at < ${to}
    group by t.type, r.slug order by t.type, r.slug`)

export const topAccounts = (db: Queries, from: Date, to: Date, types: readonly string[], limit: number) =>
  db.many<{ account_id: string; email: string | null; cents: NotNull<bigint> }>(sql`
    select t.account_id, ${contactOf(sql`a`)} as email, t.cents
    from (select account_id, sum(-amount_cents)::int8 as cents from wallet_transactions
      where created_at >= ${from} and created_at < ${to} and type = any(${types}::text[])
      group by account_id having sum(-amount_cents) > 0 order by 2 desc, 1 limit ${limit}) t
    join accounts a on a.id = t.account_id order by t.cents desc, t.account_id`)

export const standing = (db: Queries) =>
  db.one<{ balances: bigint; monthly: bigint; outstanding: bigint }>(sql`
    with renewed as (
      select billing_status, period_price_cents from vms union all select billing_status, period_price_cents from addresses
      union all select billing_status, period_price_cents from volumes union all select billing_status, period_price_cents from images)
    select (select coalesce(sum(balance_cents), 0)::int8 from wallets) as balances,
      coalesce(sum(period_price_cents) filter (where billing_status = 'ACTIVE'), 0)::int8 as monthly,
      coalesce(sum(period_price_cents) filter (where billing_status in ('PAST_DUE', 'SUSPENDED')), 0)::int8 as outstanding
    from renewed`)
