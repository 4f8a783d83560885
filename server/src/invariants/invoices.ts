// Invoices match the ledger and are complete.
import { sql } from '../kernel/database/db.ts'
import { invariant, type Invariant } from './invariant.ts'

const ledger = invariant(
  'invoices.ledger',
  'The amounts of an invoice match its ledger entries',
  ({ since }) => sql`
    select i.id, format('invoice %s charges %s and has %s paid, but its entries %s to %s make %s and %s, from %s to %s', i.number, i.charged_cents,
      i.paid_cents, i.first_entry, i.last_entry, t.charged, t.paid, before.cents, t.closing) as what
    from invoices i,
    lateral (select count(*) as entries, coalesce(-sum(amount_cents) filter (where type not in ('DEPOSIT', 'CREDIT', 'ADJUSTMENT')), 0) as charged,
        coalesce(sum(amount_cents) filter (where type in ('DEPOSIT', 'CREDIT', 'ADJUSTMENT')), 0) as paid,
        (array_agg(balance_after_cents order by number desc))[1] as closing
      from wallet_transactions where account_id = i.account_id and number between i.first_entry and i.last_entry) t,
    lateral (select coalesce(max(balance_after_cents), 0) as cents from wallet_transactions
      where account_id = i.account_id and number = i.first_entry - 1) before
    where i.issued_at >= ${since} and (t.entries <> i.last_entry - i.first_entry + 1 or t.charged <> i.charged_cents or t.paid <> i.paid_cents
      or t.closing <> i.closing_cents or before.cents <> i.opening_cents)`,
)

const complete = invariant(
  'invoices.complete',
  'Every ledger entry up to the last invoice is on one invoice',
  () => sql`
    select id, format('invoice %s begins with entry %s, but the one before it ended with %s', number, first_entry, ended) as what
    from (select id, number, first_entry, coalesce(lag(last_entry) over (partition by account_id order by month), 0) as ended from invoices) i
    where first_entry <> ended + 1`,
)

const numbers = invariant(
  'invoices.numbers',
  'Invoice numbers have no gaps',
  () => sql`
    select 'invoice_counter' as id, format('%s invoices, numbers from %s to %s, and the counter at %s', count(*), min(number), max(number), c.last_number) as what
    from invoice_counter c left join invoices i on true group by c.last_number
    having count(i.id) <> c.last_number or coalesce(max(number), 0) <> c.last_number`,
)

export const invoiceInvariants: Invariant[] = [ledger, complete, numbers]
