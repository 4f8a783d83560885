import { json, sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import type { PageRange } from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { isPayment, type TransactionRow } from '../wallet/service.ts'

export interface InvoiceRow extends Omit<Row<'invoices'>, 'month'> {
  month: string
  seller: Seller
  customer: { name: string; email: string }
}

export interface Seller {
  name: string
  address: string[]
  tax: string
}

/** Held until commit, so that numbers are gapless and unique. */
export const lockCounter = async (tx: Tx): Promise<number> =>
  (
    await tx.one<{ last_number: number }>(sql`
      insert into invoice_counter default values on conflict (is_only) do update set last_number = invoice_counter.last_number
      returning last_number`)
  ).last_number

export const setCounter = (tx: Tx, lastNumber: number) => tx.run(sql`update invoice_counter set last_number = ${lastNumber}`)

export type DueInvoice = Omit<InvoiceRow, 'id' | 'number' | 'currency' | 'seller' | 'issued_at'>

const columns = sql`to_char(month, 'YYYY-MM') as month`

/**
 * The next invoice of every account with uninvoiced entries before `until`, the start of a month. An invoice begins where the last one
 * ended, so a late entry appears on the next invoice.
 */
export const dueInvoices = (tx: Queries, until: Date, limit: number) =>
  tx.many<DueInvoice>(sql`
    with due as (
      select w.account_id, f.number as first_entry, coalesce(i.closing_cents, 0) as opening_cents,
        greatest(date_trunc('month', f.created_at at time zone 'UTC'), i.month + interval '1 month')::date as month
      from wallets w
      left join lateral (select last_entry, closing_cents, month from invoices
        where account_id = w.account_id order by last_entry desc limit 1) i on true
      join wallet_transactions f on f.account_id = w.account_id and f.number = coalesce(i.last_entry, 0) + 1
      where f.created_at < ${until}),
    oldest as (select account_id, first_entry, opening_cents, month from due where month < (${until}::timestamptz at time zone 'UTC')::date order by month, account_id limit ${limit})
    select d.account_id, to_char(d.month, 'YYYY-MM') as month, d.first_entry, e.last_entry, d.opening_cents, t.charged_cents, t.paid_cents,
      d.opening_cents + t.paid_cents - t.charged_cents as closing_cents, jsonb_build_object('name', a.name, 'email', a.email) as customer
    from oldest d join accounts a on a.id = d.account_id,
    lateral (select max(number) as last_entry from wallet_transactions
      where account_id = d.account_id and number >= d.first_entry and created_at < (d.month + interval '1 month') at time zone 'UTC') e,
    lateral (select coalesce(-sum(amount_cents) filter (where not ${isPayment}), 0)::int8 as charged_cents,
        coalesce(sum(amount_cents) filter (where ${isPayment}), 0)::int8 as paid_cents
      from wallet_transactions where account_id = d.account_id and number between d.first_entry and e.last_entry) t
    order by d.month, d.account_id`)

export const insertInvoice = (tx: Tx, row: InvoiceRow) =>
  tx.run(sql`
    insert into invoices (id, account_id, number, month, first_entry, last_entry, currency, opening_cents, charged_cents, paid_cents,
      closing_cents, seller, customer, issued_at)
    values (${row.id}, ${row.account_id}, ${row.number}, to_date(${row.month}, 'YYYY-MM'), ${row.first_entry}, ${row.last_entry}, ${row.currency},
      ${row.opening_cents}, ${row.charged_cents}, ${row.paid_cents}, ${row.closing_cents}, ${json(row.seller)}, ${json(row.customer)},
      ${row.issued_at})`)

const invoice = sql`select ${allColumns('invoices', 'i')}, ${columns} from invoices i`

export const findInvoice = (db: Queries, id: string) => db.maybe<InvoiceRow>(sql`${invoice} where id = ${id}`)

export const countInvoices = async (db: Queries, accountId: string): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from invoices where account_id = ${accountId}`)).count

export const listInvoices = (db: Queries, accountId: string, { limit, offset, after }: PageRange) =>
  db.many<InvoiceRow>(sql`
    ${invoice} where account_id = ${accountId} ${after ? sql`and last_entry < (select last_entry from invoices where id = ${after[0]} and account_id = ${accountId})` : sql``}
    order by last_entry desc limit ${limit} offset ${offset}`)

/** The first `most` entries. */
export const linesOf = (db: Queries, { account_id, first_entry, last_entry }: InvoiceRow, most: number) =>
  db.many<TransactionRow>(sql`
    select ${allColumns('wallet_transactions')} from wallet_transactions where account_id = ${account_id}
      and number between ${first_entry} and ${Math.min(last_entry, first_entry + most - 1)} order by number`)
