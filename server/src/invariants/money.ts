// Charges, refunds and payments match the ledger.
import { sql } from '../kernel/database/db.ts'
import { invariant, type Invariant } from './invariant.ts'
import { isBusy } from './workflows.ts'

const balance = invariant(
  'wallet.balance',
  'A wallet balance is the sum of its ledger',
  () => sql`
    select w.account_id as id, format('%s cents and %s entries, but the ledger has %s cents in %s entries', w.balance_cents,
      w.transaction_count, coalesce(t.cents, 0), coalesce(t.entries, 0)) as what
    from wallets w left join (
      select account_id, sum(amount_cents) as cents, count(*) as entries from wallet_transactions group by account_id) t using (account_id)
    where w.balance_cents <> coalesce(t.cents, 0) or w.transaction_count <> coalesce(t.entries, 0)`,
)

const running = invariant(
  'wallet.running',
  'Every ledger entry continues the balance of the previous one',
  ({ since }) => sql`
    select t.id, format('entry %s of %s ends at %s cents, but %s before it and its own %s make another sum', t.number, t.account_id,
      t.balance_after_cents, coalesce(p.balance_after_cents::text, 'nothing'), t.amount_cents) as what
    from wallet_transactions t left join wallet_transactions p on p.account_id = t.account_id and p.number = t.number - 1
    where t.created_at >= ${since}
      and ((p.id is null and t.number <> 1) or t.balance_after_cents <> coalesce(p.balance_after_cents, 0) + t.amount_cents)`,
)

const notNegative = invariant(
  'wallet.not_negative',
  'No wallet balance was ever negative',
  ({ since }) => sql`
    select account_id as id, format('%s cents', balance_cents) as what from wallets where balance_cents < 0
    union all
    select id, format('%s cents after entry %s of %s', balance_after_cents, number, account_id) from wallet_transactions
    where balance_after_cents < 0 and created_at >= ${since}`,
)

const paidFor = invariant(
  'charges.kept',
  'Every charged VM exists, was terminated or lost with its host, or was refunded',
  ({ since }) => sql`
    select reference_id as id, format('%s cents are paid for a VM that never ended and is nowhere', -sum(amount_cents)) as what
    from wallet_transactions t where reference_type = 'VM'
    group by reference_id having sum(amount_cents) < 0 and max(created_at) >= ${since}
      and not exists (select from vms v where v.id = reference_id)
      and not exists (select from events e where e.subject_id = reference_id and e.type = 'vm.terminated')
    union all
    select v.id, format('%s cents are paid for a VM that could not be built', paid.cents)
    from vms v, lateral (select -coalesce(sum(amount_cents), 0) as cents from wallet_transactions where reference_id = v.id) paid
    where not v.provisioned and v.lost_at is null and paid.cents > 0 and not ${isBusy}`,
)

const charged = invariant(
  'charges.made',
  'No VM was provisioned without a charge',
  () => sql`
    select v.id, format('VM %s is %s and nothing was ever charged for it', v.name, v.status) as what from vms v
    where v.provisioned and not exists (select from wallet_transactions t where t.reference_id = v.id and t.type = 'VM_CHARGE')`,
)

const refunds = invariant(
  'charges.refunds',
  'Refunds never exceed charges',
  ({ since }) => sql`
    select reference_id as id, format('%s cents more were refunded than charged', sum(amount_cents)) as what
    from wallet_transactions where reference_type = 'VM'
    group by reference_id having sum(amount_cents) > 0 and max(created_at) >= ${since}`,
)

const budgets = invariant(
  'budgets.never_overdrawn',
  'No charge that somebody asked for went beyond a budget or made one VM too many, and what is used of budgets is what the ledger has',
  ({ since }) => sql`
    select e.subject_id as id, format('entry %s charged %s cents, after which %s of %s were used', e.number, e.cents, e.used_after_cents, e.limit_cents) as what
    from budget_entries e where e.kind = 'CHARGE' and e.cents > 0 and e.used_after_cents > e.limit_cents and e.created_at >= ${since}
    union all
    select e.subject_id, format('entry %s ends at %s cents, but %s before it and its own %s make another sum', e.number, e.used_after_cents,
      coalesce(p.used_after_cents, 0), e.cents)
    from budget_entries e left join lateral (select used_after_cents from budget_entries p where p.subject_type = e.subject_type
      and p.subject_id = e.subject_id and p.month = e.month and p.number < e.number order by p.number desc limit 1) p on true
    where e.created_at >= ${since} and (e.used_after_cents <> coalesce(p.used_after_cents, 0) + e.cents or e.used_after_cents < 0)
    union all
    select e.subject_id, format('entry %s has %s cents, and the ledger %s', e.number, e.cents, coalesce(t.amount_cents::text, 'nothing'))
    from budget_entries e left join wallet_transactions t on t.account_id = e.account_id and t.number = e.number
    where e.created_at >= ${since} and (t.id is null or (e.kind <> 'REFUND' and e.cents <> -t.amount_cents) or (e.kind = 'REFUND' and -e.cents > t.amount_cents))
    union all
    select r.subject_id, format('VM %s was one of %s, of which there may be %s', r.vm_id, r.vms_after, r.max_vms)
    from budget_resources r where r.vms_after > r.max_vms`,
)

const budgetHolders = invariant(
  'budgets.holders',
  'Budgets belong to projects, tokens, members and invitations, but to no owner; what a token has used its maker has used, and a project all that it was charged',
  ({ since }) => sql`
    select b.subject_id as id, format('a budget of %s %s, which may have none or is nowhere', lower(b.subject_type), b.subject_id) as what
    from budgets b where case b.subject_type
      when 'TOKEN' then not exists (select from api_tokens k where k.id = b.subject_id and k.account_id = b.account_id)
      when 'MEMBER' then exists (
        select from members m where m.account_id = b.account_id and m.account_id || '/' || m.user_id = b.subject_id and m.role = 'owner')
      when 'PROJECT' then not exists (
        select from accounts p where p.id = b.subject_id and p.id = b.account_id and p.payer_account_id is not null and p.deleted_at is null)
      else not exists (select from invitations i where i.id = b.subject_id and i.account_id = b.account_id and i.role <> 'owner') end
    union all
    select e.subject_id, format('entry %s counts %s cents, and not as much for its maker', e.number, e.cents)
    from budget_entries e join api_tokens k on k.id = e.subject_id
    where e.subject_type = 'TOKEN' and e.created_at >= ${since} and k.created_by is not null and not exists (
      select from budget_entries m where m.subject_type = 'MEMBER' and m.month = e.month and m.number = e.number and m.cents = e.cents
        and m.subject_id in (k.account_id || '/' || k.created_by, e.account_id || '/' || k.created_by))
    union all
    select t.project_id, format('entry %s charged %s cents, and %s to its budget', t.number, -t.amount_cents, coalesce(e.cents::text, 'nothing'))
    from wallet_transactions t left join budget_entries e on e.subject_type = 'PROJECT' and e.subject_id = t.project_id
      and e.month = date_trunc('month', t.created_at at time zone 'UTC')::date and e.number = t.number
    where t.project_id is not null and t.amount_cents < 0 and t.created_at >= ${since} and e.cents is distinct from -t.amount_cents`,
)

const ordered = invariant(
  'charges.as_ordered',
  'Each VM of a request was charged what its action says',
  ({ since }) => sql`
    select r.id, format('action %s says that VM %s costs %s cents, but %s were charged', r.id, r.subject_id, r.input ->> 'chargedCents',
      coalesce(first.cents::text, 'none')) as what
    from workflow_runs r left join lateral (
      select -amount_cents as cents from wallet_transactions t where t.reference_id = r.subject_id and t.type = 'VM_CHARGE' order by number limit 1) first on true
    where r.label = 'CREATE' and r.input ? 'chargedCents' and r.created_at >= ${since} and first.cents is distinct from (r.input ->> 'chargedCents')::int8`,
)

/** Charged again only after a full refund, because provisioning failed, or after the VM was lost with its host; and it was rebuilt. */
const firstMonth = invariant(
  'charges.first_month',
  'The first billing period of a VM is charged once',
  ({ since }) => sql`
    select t.id, format('VM %s was charged for its first month again, %s cents', t.reference_id, -t.amount_cents) as what
    from wallet_transactions t, lateral (
      select number, amount_cents, created_at from wallet_transactions e
      where e.reference_id = t.reference_id and e.type = 'VM_CHARGE' and e.number < t.number order by number desc limit 1) earlier
    where t.type = 'VM_CHARGE' and t.created_at >= ${since} and not exists (
      select from wallet_transactions r where r.reference_id = t.reference_id and r.type = 'VM_REFUND'
        and r.number > earlier.number and r.number < t.number and r.amount_cents = -earlier.amount_cents)
      and not exists (select from vms v where v.id = t.reference_id and v.lost_at between earlier.created_at and t.created_at)`,
)

const causes = invariant(
  'ledger.causes',
  'Every ledger entry references its cause',
  ({ since }) => sql`
    select t.id, format('%s of %s cents names %s %s, which nobody knows', t.type, t.amount_cents, t.reference_type, t.reference_id) as what
    from wallet_transactions t where t.created_at >= ${since} and case t.reference_type
      when 'PAYMENT' then not exists (select from payments p where p.id = t.reference_id and p.account_id = t.account_id)
      when 'ADMIN' then t.reference_id <> t.account_id and not exists (
        select from wallet_adjustments o where o.id = t.reference_id and o.account_id = t.account_id and o.amount_cents = t.amount_cents)
      else false end`,
)

const payments = invariant(
  'payments.once',
  'A payment is credited once, less refunds and chargebacks',
  () => sql`
    select p.id, format('%s with %s received and %s taken back, but the ledger has %s in and %s back', p.status, coalesce(p.received_cents, 0),
      p.reversed_cents, t.received, t.taken_back) as what
    from payments p, lateral (
      select coalesce(sum(amount_cents) filter (where type = 'DEPOSIT'), 0) as received, count(*) filter (where type = 'DEPOSIT') as deposits,
        -coalesce(sum(amount_cents) filter (where type = 'ADJUSTMENT'), 0) as taken_back
      from wallet_transactions where reference_id = p.id) t
    where t.received <> coalesce(p.received_cents, 0) or t.deposits <> (p.status = 'SUCCEEDED')::int or t.taken_back <> p.reversed_cents`,
)

export const moneyInvariants: Invariant[] = [
  balance,
  running,
  notNegative,
  paidFor,
  charged,
  ordered,
  budgets,
  budgetHolders,
  refunds,
  firstMonth,
  causes,
  payments,
]
