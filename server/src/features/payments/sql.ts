import { json, sql, type NotNull, type Queries, type Tx } from '../../kernel/database/db.ts'
import { newestFirst, type PageRange } from '../../kernel/database/page-range.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import type { ProviderEvent, NoticeKind } from './provider.ts'

export type PaymentRow = Row<'payments'>

export type NewPayment = Pick<
  PaymentRow,
  'id' | 'account_id' | 'provider' | 'amount_cents' | 'currency' | 'session_id' | 'checkout_url' | 'instructions' | 'created_at'
>

export const insertPayment = (tx: Tx, row: NewPayment) =>
  tx.one<PaymentRow>(sql`
    insert into payments (id, account_id, provider, amount_cents, currency, session_id, checkout_url, instructions, created_at, updated_at)
    values (${row.id}, ${row.account_id}, ${row.provider}, ${row.amount_cents}, ${row.currency}, ${row.session_id}, ${row.checkout_url},
      ${row.instructions}, ${row.created_at}, ${row.created_at}) returning ${allColumns('payments')}`)

export const findPayment = (db: Queries, accountId: string, id: string) =>
  db.maybe<PaymentRow>(sql`select ${allColumns('payments')} from payments where id = ${id} and account_id = ${accountId}`)

export const lockPayment = (tx: Tx, id: string) =>
  tx.maybe<PaymentRow>(sql`select ${allColumns('payments')} from payments where id = ${id} for update`)

/** By our payment id if the metadata has it, else by the provider's id. */
export const lockPaymentOf = (tx: Tx, { paymentId, intentId }: Pick<ProviderEvent, 'paymentId' | 'intentId'>) =>
  tx.maybe<PaymentRow>(sql`
    select ${allColumns('payments')} from payments where case when ${paymentId}::text is null then intent_id = ${intentId} else id = ${paymentId} end for update`)

export const savePayment = (tx: Tx, now: Date, row: PaymentRow) =>
  tx.run(sql`
    update payments set status = ${row.status}, intent_id = ${row.intent_id}, received_cents = ${row.received_cents},
      refunded_cents = ${row.refunded_cents}, disputed_cents = ${row.disputed_cents}, reversed_cents = ${row.reversed_cents},
      transaction_id = ${row.transaction_id}, updated_at = ${now}
    where id = ${row.id}`)

/** Serialises the events of one payment: two concurrent ones could each miss the other's writes. */
export const queueForIntent = (tx: Tx, intentId: string) => tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${intentId}, 0))`)

/** False for a duplicate; waits for a concurrent insert of the same event. */
export const insertNotice = async (tx: Tx, now: Date, provider: string, notice: ProviderEvent): Promise<boolean> =>
  (await tx.run(sql`
    insert into payment_events (id, provider, type, object_id, intent_id, change, received_at)
    values (${notice.id}, ${provider}, ${notice.type}, ${notice.objectId}, ${notice.intentId},
      ${json({ kind: notice.kind, cents: notice.amount.toString(), currency: notice.currency })}, ${now})
    on conflict do nothing`)) > 0

export const assignNotice = (tx: Tx, id: string, paymentId: string) =>
  tx.run(sql`update payment_events set payment_id = ${paymentId} where id = ${id}`)

export interface Change {
  kind: NoticeKind
  cents: string
  currency: string
}

/** Claims the events that arrived before their payment was known. */
export const takeWaiting = async (tx: Tx, intentId: string, paymentId: string): Promise<Change[]> =>
  (
    await tx.many<{ change: Change }>(sql`
      update payment_events set payment_id = ${paymentId} where intent_id = ${intentId} and payment_id is null returning change`)
  ).map(({ change }) => change)

export const countPayments = async (db: Queries, accountId: string): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from payments where account_id = ${accountId}`)).count

/** Serialises the deposits of an account until the transaction ends, for its limit. */
export const lockDepositsOf = (tx: Tx, accountId: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('deposits ' || ${accountId}, 0))`)

export const countOpen = async (db: Queries, accountId: string): Promise<number> =>
  (await db.one<{ count: number }>(sql`select count(*)::int as count from payments where account_id = ${accountId} and status = 'PENDING'`))
    .count

export const expireOpen = (db: Queries, createdBefore: Date, now: Date) =>
  db.run(sql`update payments set status = 'EXPIRED', updated_at = ${now} where status = 'PENDING' and created_at < ${createdBefore}`)

export const listPayments = (db: Queries, accountId: string, range: PageRange) =>
  db.many<PaymentRow>(sql`
    select ${allColumns('payments')} from payments where account_id = ${accountId} ${newestFirst(sql`id`, range)}`)

export type ListedPayment = PaymentRow & { email: NotNull<string>; lost_cents: bigint }

/** For operators: all accounts or one, open ones first, then newest first. `lost`: reversed by the provider and not covered by the wallet. */
export const listAllPayments = (db: Queries, filter: { accountId: string | null; onlyLosses: boolean }) =>
  db.many<ListedPayment>(sql`
    select ${allColumns('payments')}, email, lost_cents from (
      select ${allColumns('payments', 'p')}, a.email, case when p.transaction_id is null then 0
        else greatest(0, least(p.refunded_cents + p.disputed_cents, p.received_cents)) - p.reversed_cents end as lost_cents
      from payments p join accounts a on a.id = p.account_id
      where ${filter.accountId}::text is null or a.id = ${filter.accountId}) each
    where not ${filter.onlyLosses} or lost_cents > 0
    order by status in ('PENDING', 'PROCESSING') desc, id desc limit 1000`)
