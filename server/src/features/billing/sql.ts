import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { isOpen } from '../../workflow/run-store.ts'
import { isSuspended, payerOf, withProjects } from '../accounts/service.ts'
import { RENEWAL_PRICE } from '../addresses/service.ts'
import { IMAGE_RENEWAL_PRICE } from '../images/service.ts'
import { RENEWAL_PRICE as VOLUME_PRICE } from '../volumes/service.ts'
import type { VmRow } from '../vms/service.ts'

const ofSuspendedAccount = isSuspended(sql`v.account_id`)

/** Excludes VMs that failed to provision, unmanaged VMs, those of destroyed hosts, and VMs suspended by an operator, alone or with their account, or about to be. */
const isBillable = sql`
  v.billing_status <> 'CANCELLED' and v.status <> 'UNMANAGED' and (v.status <> 'SUSPENDED' or v.billing_status = 'SUSPENDED')
  and coalesce(v.pending_hold, 'UNPAID') = 'UNPAID' and not ${ofSuspendedAccount}
  and not exists (select from hosts h where h.id = v.host_id and h.lost_at is not null)`

export interface DueVm {
  id: string
  payer_id: string
  next_renewal_at: Date
}

export interface Deadlines {
  now: Date
  /** VMs past due since before this time have used up their grace period. */
  graceOver: Date
  /** VMs suspended since before this time have used up their retention. */
  retentionOver: Date
}

/**
 * VMs with a billing step to run, oldest debt first. An unpaid VM is included only when the balance covers it or its deadline has
 * passed.
 */
export const dueVms = (db: Queries, { now, graceOver, retentionOver }: Deadlines, last: DueVm | undefined, limit: number) =>
  db.many<DueVm>(sql`
    select v.id, y.payer_id, v.next_renewal_at
    from vm_details v cross join lateral (select ${payerOf(sql`v.account_id`)} as payer_id) y left join wallets w on w.account_id = y.payer_id
    where v.next_renewal_at <= ${now} and v.provisioned and v.status <> 'UPGRADING' and ${isBillable}
      and (${last?.next_renewal_at ?? null}::timestamptz is null or (v.next_renewal_at, v.id) > (${last?.next_renewal_at ?? null}, ${last?.id ?? null}))
      and (v.billing_status = 'ACTIVE' or coalesce(w.balance_cents, 0) >= v.renewal_price_cents
        or (v.billing_status = 'PAST_DUE' and v.past_due_at <= ${graceOver})
        or (v.billing_status = 'SUSPENDED' and v.suspended_at <= ${retentionOver}))
    order by v.next_renewal_at, v.id limit ${limit}`)

/** Paid VMs that are still suspended because their unsuspension failed. */
export const paidButSuspended = (db: Queries, now: Date, triedBefore: Date) =>
  db.many<Pick<VmRow, 'id' | 'account_id'>>(sql`
    select id, account_id from vms v where billing_status = 'SUSPENDED' and status = 'SUSPENDED' and next_renewal_at > ${now}
      and not ${ofSuspendedAccount} and not exists (select from workflow_runs r where r.subject_id = v.id
        and (r.created_at > ${triedBefore} or ${isOpen}))
    order by id limit 500`)

/** Whether a suspend, unsuspend, delete, shelve or unshelve run is open or was created after `since`; its outcome decides whether the VM is charged. */
export const hasRecentLifecycleRun = async (tx: Tx, vmId: string, since: Date): Promise<boolean> =>
  (await tx.maybe(sql`
    select from workflow_runs r where subject_id = ${vmId} and label in ('SUSPEND', 'UNSUSPEND', 'DELETE', 'SHELVE', 'UNSHELVE')
      and (created_at > ${since} or ${isOpen}) limit 1`)) !== undefined

export interface Period {
  startsAt: Date
  endsAt: Date
  renewalDay: number
  priceCents: bigint
  /** The part of the price that is for snapshots and backups: upgrades and refunds of the VM are not prorated from it. */
  copiesCents: bigint
}

/** A suspended VM keeps the billing status SUSPENDED until it is unsuspended. */
export const setPeriod = (tx: Tx, now: Date, vmId: string, { startsAt, endsAt, renewalDay, priceCents, copiesCents }: Period) =>
  tx.run(sql`
    update vms set period_started_at = ${startsAt}, next_renewal_at = ${endsAt}, renewal_day = ${renewalDay}, period_price_cents = ${priceCents - copiesCents},
      billing_status = case when billing_status = 'SUSPENDED' then 'SUSPENDED' else 'ACTIVE' end, past_due_at = null,
      pending_hold = nullif(pending_hold, 'UNPAID'), shelved_credit_cents = null, shelved_price_cents = null,
      daily_backup_paid_until = case when daily_backup then ${endsAt}::timestamptz else daily_backup_paid_until end,
      network_10g_paid_until = case when network_10g then ${endsAt}::timestamptz else network_10g_paid_until end, updated_at = ${now}
    where id = ${vmId}`)

export const insertRenewal = (tx: Tx, vmId: string, { startsAt, endsAt }: Period, transactionId: string) =>
  tx.run(sql`
    insert into renewals (vm_id, period_started_at, period_ends_at, transaction_id) values (${vmId}, ${startsAt}, ${endsAt}, ${transactionId})`)

export const markPastDue = (tx: Tx, now: Date, vmId: string) =>
  tx.run(sql`update vms set billing_status = 'PAST_DUE', past_due_at = ${now}, updated_at = ${now} where id = ${vmId}`)

/** What renews: VMs, floating addresses, images and volumes. */
const renewing = sql`
  select account_id, next_renewal_at, renewal_price_cents, renewal_day from vm_details v where ${isBillable}
  union all select account_id, next_renewal_at, ${RENEWAL_PRICE}, renewal_day from addresses
  union all select account_id, next_renewal_at, ${IMAGE_RENEWAL_PRICE}, renewal_day from images i where status = 'AVAILABLE'
  union all select account_id, next_renewal_at, ${VOLUME_PRICE}, renewal_day from volumes v where deleted_at is null`

export const sumDue = (db: Queries, accountId: string, until: Date) =>
  db.one<{ due: bigint; monthly: bigint }>(sql`
    select coalesce(sum(renewal_price_cents) filter (where next_renewal_at <= ${until}), 0)::int8 as due,
      coalesce(sum(renewal_price_cents), 0)::int8 as monthly
    from (${renewing}) each where account_id in ${withProjects(sql`${accountId}`)}`)

export interface RenewalDay {
  renews_at: Date
  renewal_day: number
  cents: bigint
}

/** What renews next on each day of UTC, what is overdue today. */
export const renewalDays = (db: Queries, accountId: string, now: Date) =>
  db.many<RenewalDay>(sql`
    select date_trunc('day', greatest(next_renewal_at, ${now}), 'UTC') as renews_at,
      coalesce(renewal_day, extract(day from next_renewal_at at time zone 'UTC'))::int as renewal_day, sum(renewal_price_cents)::int8 as cents
    from (${renewing}) each where account_id in ${withProjects(sql`${accountId}`)} and next_renewal_at is not null group by 1, 2`)

export interface ShortAccount {
  account_id: string
  balance_cents: bigint
  due_cents: bigint
}

/** Payers whose balance does not cover their renewals and that were not warned since `toldBefore`. */
export const lowBalanceAccounts = (db: Queries, dueBefore: Date, toldBefore: Date) =>
  db.many<ShortAccount>(sql`
    select account_id, coalesce(w.balance_cents, 0) as balance_cents, due_cents
    from (select coalesce(a.payer_account_id, a.id) as account_id, sum(renewal_price_cents)::int8 as due_cents
      from (${renewing}) each join accounts a on a.id = each.account_id
      where next_renewal_at <= ${dueBefore} group by 1) d
      left join wallets w using (account_id) left join low_balance_warnings l using (account_id)
    where due_cents > coalesce(w.balance_cents, 0) and (l.warned_at is null or l.warned_at <= ${toldBefore})
    order by account_id`)

/** Returns false when another process has recorded the warning first. */
export const markWarned = async (tx: Tx, now: Date, accountId: string, toldBefore: Date): Promise<boolean> =>
  (await tx.run(sql`
    insert into low_balance_warnings as l (account_id, warned_at) values (${accountId}, ${now})
    on conflict (account_id) do update set warned_at = excluded.warned_at where l.warned_at <= ${toldBefore}`)) > 0
